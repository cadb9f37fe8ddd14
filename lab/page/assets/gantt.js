// One trace, span by span: when each began and how long it took, as a drawing and as a table.

import { choice, html, offer, scrolling, svg } from "./dom.js";
import { clock, number, shortened } from "./format.js";
import { table } from "./table.js";

const COLUMNS = [
  ["span"],
  ["depth", "number"],
  ["start, ms", "number"],
  ["duration, ms", "number"],
  ["error"],
];
const ROW = 18;
const AXIS = 24;
const DURATIONS = 76;
const CHARACTER = 6.4;
const INDENT = 9;
const DEEPEST = 8;
const HUES = 8;
const NEWEST = ["", "the newest slow one"];

/** A choice of traces and one of them; `draw` takes the list, `changed` is called when another is chosen. */
export function gantt(place, request, changed) {
  const { select, parts } = choice("which-trace", "Trace", [NEWEST]);
  const drawing = html("div");
  const rows = table("Spans of the trace", COLUMNS);
  const inTable = html("details", {}, html("summary", {}, "The same as a table"), rows.element);
  const region = scrolling("Spans of the trace, drawn over time", drawing);
  place.append(html("p", { class: "choice" }, ...parts), region, inTable);
  let shown = null;

  async function draw({ traces }) {
    // A list that is open must not change.
    if (document.activeElement !== select) offer(select, options(traces, select));
    const wanted = select.value || traces[0]?.trace_id;
    if (!wanted) return "There are no traces yet, or this telemetry makes none.";
    if (wanted !== shown?.trace_id) show(await request(`/api/traces/${encodeURIComponent(wanted)}`));
    return "";
  }

  function show(trace) {
    shown = { ...trace, spans: ordered(trace.spans) };
    const { spans } = shown;
    rows.caption(`Trace ${trace.trace_id}: ${spans.length} spans in ${number(lastEnd(spans))} ms`);
    rows.fill(spans.map(cells));
    redraw();
  }

  function redraw() {
    // Hidden, it has no width.
    if (shown && drawing.clientWidth) drawing.replaceChildren(picture(shown, Math.max(280, drawing.clientWidth)));
  }

  select.addEventListener("change", changed);
  addEventListener("resize", redraw);
  return { draw };
}

/** The newest slow trace, then all; a chosen one stays, also when the list has forgotten it. */
function options(traces, select) {
  const found = traces.map((trace) => [trace.trace_id, inShort(trace)]);
  const forgotten = select.value && !traces.some(({ trace_id: id }) => id === select.value);
  return [NEWEST, ...found, ...(forgotten ? [[select.value, select.selectedOptions[0].text]] : [])];
}

function inShort({ root, duration_ms: took, spans, start_unix_ms: began, slow }) {
  const text = `${root}, ${number(took)} ms, ${spans} spans, ${clock(began / 1000)}`;
  return slow ? `${text}, slow` : text;
}

/** Spans with their depth, children after their parent, each level by its start; none is lost or shown twice. */
export function ordered(spans) {
  const known = new Set(spans.map((span) => span.span_id));
  const below = new Map();
  for (const span of [...spans].sort((one, other) => one.start_ms - other.start_ms)) {
    const parent = known.has(span.parent_id) ? span.parent_id : null;
    if (!below.has(parent)) below.set(parent, []);
    below.get(parent).push(span);
  }
  const rows = [];
  function visit(parent, depth) {
    const children = below.get(parent) ?? [];
    // Two spans can have one ID, and a broken trace can be a circle.
    below.delete(parent);
    for (const span of children) {
      rows.push({ ...span, depth });
      visit(span.span_id, depth + 1);
    }
  }
  for (const start of [null, ...below.keys()]) visit(start, 0);
  return rows;
}

const lastEnd = (spans) => Math.max(0, ...spans.map((span) => span.start_ms + span.duration_ms));
const nameOf = (span) => `${span.service}: ${span.name}`;

function cells(span) {
  return [
    nameOf(span),
    String(span.depth),
    number(span.start_ms),
    number(span.duration_ms),
    span.error ? "error" : "",
  ];
}

function picture({ trace_id: id, spans }, width) {
  const names = Math.min(300, 0.4 * width);
  const end = lastEnd(spans) || 1;
  const plan = { width, names, x: (ms) => names + (Math.max(0, ms) / end) * (width - names - DURATIONS) };
  const height = AXIS + spans.length * ROW;
  const services = [...new Set(spans.map((span) => span.service))];
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Trace ${id}, ${spans.length} spans over time. The table has the same.`,
    },
    ...ticks(end).map((ms) => tick(ms, plan, height)),
    ...spans.map((span, index) => bar(span, AXIS + index * ROW, services.indexOf(span.service), plan)),
  );
}

/** Up to six round times. */
function ticks(end) {
  const power = 10 ** Math.floor(Math.log10(end / 5));
  const step = power * ([1, 2, 5].find((factor) => power * factor >= end / 5) ?? 10);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}

function tick(ms, { x }, height) {
  return svg(
    "g",
    { class: "tick" },
    svg("line", { x1: x(ms), x2: x(ms), y1: AXIS - 6, y2: height }),
    svg("text", { x: x(ms), y: 12 }, `${number(ms, 2)} ms`),
  );
}

function bar(span, y, service, { width, names, x }) {
  const indent = INDENT * Math.min(span.depth, DEEPEST);
  const name = shortened(nameOf(span), Math.floor((names - indent - 8) / CHARACTER));
  const long = Math.max(2, x(span.start_ms + span.duration_ms) - x(span.start_ms));
  const duration = `${span.error ? "✕ " : ""}${number(span.duration_ms)} ms`;
  return svg(
    "g",
    { class: span.error ? "span failing" : "span" },
    svg("title", {}, `${nameOf(span)}, ${number(span.duration_ms)} ms${span.error ? ", error" : ""}`),
    svg("text", { x: indent, y: y + 13 }, name),
    svg("rect", {
      class: `hue-${(service % HUES) + 1}`,
      x: x(span.start_ms),
      y: y + 3,
      width: long,
      height: ROW - 6,
      rx: 2,
    }),
    svg("text", { class: "duration", x: width, y: y + 13 }, duration),
  );
}
