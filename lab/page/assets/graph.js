// The topology with live figures on its arrows, as a drawing and as a table.

import { say, svg } from "./dom.js";
import { clock, number, percent, rate, shortened } from "./format.js";
import { at, layout } from "./layout.js";
import { table } from "./table.js";

const NARROW = matchMedia("(max-width: 50rem)");
const COLUMNS = [
  ["from"],
  ["to"],
  ["requests", "number"],
  ["errors", "number"],
  ["median, ms", "number"],
  ["p99, ms", "number"],
];

/** The graph and its table; `draw` shows the server's newest figures, and returns a note if there are none. */
export function graph(drawing, tabular) {
  const rows = table("Calls between the parts", COLUMNS);
  tabular.append(rows.element);
  let shown = null;
  let drawn = null;
  let figures = new Map();

  function draw(data) {
    shown = data;
    const parts = JSON.stringify([data.nodes, data.edges.map(identity), NARROW.matches]);
    if (parts !== drawn) {
      drawn = parts;
      figures = redraw(drawing, data);
    }
    for (const edge of data.edges) figures.get(nameOf(edge))?.(edge);
    const labels = new Map(data.nodes.map((node) => [node.id, node.label]));
    rows.caption(`Calls between the parts, at ${clock(data.at_unix_s)}`);
    rows.fill(data.edges.map((edge) => cells(edge, labels)));
    return data.nodes.length ? "" : "There is no graph of such a system.";
  }

  NARROW.addEventListener("change", () => shown && draw(shown));
  return { draw };
}

const nameOf = ({ source, target }) => JSON.stringify([source, target]);
const measured = (edge) =>
  [edge.requests_per_s, edge.error_share, edge.p50_ms, edge.p99_ms].some(Number.isFinite);
const identity = (edge) => [edge.source, edge.target, measured(edge)];

function cells(edge, labels) {
  return [
    labels.get(edge.source) ?? edge.source,
    labels.get(edge.target) ?? edge.target,
    rate(edge.requests_per_s),
    percent(edge.error_share),
    number(edge.p50_ms),
    number(edge.p99_ms),
  ];
}

/** Draw all anew; return how to show the figures of each edge. */
function redraw(place, data) {
  const edges = data.edges.map((edge) => ({ ...edge, measured: measured(edge) }));
  const plan = layout(data.nodes, edges, NARROW.matches);
  const arrows = plan.edges.map(arrow);
  place.replaceChildren(
    svg(
      "svg",
      {
        viewBox: `0 0 ${plan.width} ${plan.height}`,
        role: "img",
        "aria-label":
          `Graph of ${plan.nodes.length} parts and ${plan.edges.length} calls. ` +
          "Its figures are in the table.",
      },
      ...arrows.map(({ line }) => line),
      ...plan.nodes.map(box),
      ...arrows.map(({ label }) => label),
    ),
  );
  return new Map(plan.edges.map((edge, index) => [nameOf(edge), arrows[index].update]));
}

function box(node) {
  const { x, y, width, height } = node;
  return svg(
    "g",
    { class: `node ${node.kind}` },
    svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 6 }),
    svg("text", { x, y: y + 4.5 }, shortened(node.label, 14)),
    svg("title", {}, `${node.label}: ${node.kind}`),
  );
}

function arrow(edge) {
  const { start, control, end, label: place } = edge;
  const line = svg(
    "g",
    { class: "edge" },
    svg("path", { d: `M${pair(start)}Q${pair(control)} ${pair(end)}` }),
    svg("polygon", { points: head(edge) }),
  );
  const upper = svg("text", { x: place.x, y: place.y + (edge.measured ? -2.5 : 4) });
  const lower = svg("text", { x: place.x, y: place.y + 11 });
  const plate = svg("rect", {
    x: place.x - place.width / 2,
    y: place.y - place.height / 2,
    width: place.width,
    height: place.height,
    rx: 4,
  });
  const label = svg("g", { class: "figures" }, plate, upper, lower);
  together(line, label);
  return { line, label, update: (now) => update(now, [line, label], upper, lower) };
}

/** Where arrows are dense, pointing at a label shows which arrow it belongs to, and the other way round. */
function together(...parts) {
  for (const part of parts) {
    part.addEventListener("pointerenter", () => parts.forEach((one) => one.classList.add("pointed")));
    part.addEventListener("pointerleave", () => parts.forEach((one) => one.classList.remove("pointed")));
  }
}

function update(edge, parts, upper, lower) {
  for (const part of parts) part.classList.toggle("failing", edge.error_share > 0);
  if (!measured(edge)) return say(upper, "–");
  say(upper, `${rate(edge.requests_per_s)} · ${percent(edge.error_share)}`);
  say(lower, `${number(edge.p50_ms, 2)} / ${number(edge.p99_ms, 2)} ms`);
}

const pair = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;

/** The arrow's tip, as a triangle that looks the way the curve ends. */
function head(edge) {
  const before = at(edge, 0.94);
  const { x, y } = edge.end;
  const length = Math.hypot(x - before.x, y - before.y) || 1;
  const [dx, dy] = [(x - before.x) / length, (y - before.y) / length];
  const side = (sign) => ({ x: x - 9 * dx - sign * 4 * dy, y: y - 9 * dy + sign * 4 * dx });
  return [edge.end, side(1), side(-1)].map(pair).join(" ");
}
