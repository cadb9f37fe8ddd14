// What changes did to cost and latency, with the noise of before and after.

import { html, svg } from "./dom.js";
import { clock, DASH, interval, percent } from "./format.js";
import { table } from "./table.js";

const COLUMNS = [["change"], ["CPU per request, ms"], ["latency, ms"]];
const PLOT = { width: 170, height: 22, margin: 6 };

/** The table of changes, newest first; `draw` returns a note if there is none. */
export function marks(place) {
  const rows = table("Changes, newest first", COLUMNS);
  place.append(rows.element);
  const made = new Map();

  /** A mark's cells stay as they are until the mark has changed. */
  function cells(mark) {
    const text = JSON.stringify(mark);
    if (made.get(mark.at_unix_s)?.text !== text) made.set(mark.at_unix_s, { text, cells: cellsOf(mark) });
    return made.get(mark.at_unix_s).cells;
  }

  function draw(data) {
    const newestFirst = [...data.marks].sort((one, other) => other.at_unix_s - one.at_unix_s);
    rows.fill(newestFirst.map(cells));
    return newestFirst.length ? "" : "Nothing was changed since the start.";
  }

  return { draw };
}

function cellsOf(mark) {
  const change = html(
    "div",
    { class: "change" },
    html("strong", {}, mark.change),
    html("p", { class: "unit" }, `${clock(mark.at_unix_s)}; ${mark.measures}`),
    html("p", { class: "caution" }, mark.label),
  );
  return [change, compared(mark.cpu_ms_per_request, mark.settled), compared(mark.latency_ms, mark.settled)];
}

function compared(measured, settled) {
  const before = measured?.before ?? null;
  const after = (settled && measured?.after) || null;
  const waiting = settled ? DASH : "not settled yet";
  return html(
    "div",
    { class: "compared" },
    html("p", {}, `before: ${interval(before)}`),
    html("p", {}, `after: ${after ? interval(after) : waiting}`),
    ...(before && after ? [html("p", { class: "unit" }, difference(before, after)), plot(before, after)] : []),
  );
}

/** Says no more than can be seen: whether the intervals overlap. */
function difference(before, after) {
  const share = after.mean / before.mean - 1;
  const apart = after.low > before.high || after.high < before.low;
  return `${share > 0 ? "+" : ""}${percent(share)}; the intervals ${apart ? "do not overlap" : "overlap"}`;
}

/** Two intervals on one scale; the text beside it has the numbers. */
function plot(before, after) {
  const { width, height, margin } = PLOT;
  const from = Math.min(before.low, after.low);
  const length = Math.max(before.high, after.high) - from || 1;
  const x = (value) => margin + ((value - from) / length) * (width - 2 * margin);
  const whisker = (look, { mean, low, high }, y) =>
    svg(
      "g",
      { class: look },
      svg("line", { x1: x(low), x2: x(high), y1: y, y2: y }),
      svg("circle", { cx: x(mean), cy: y, r: 4 }),
    );
  return svg(
    "svg",
    { class: "whiskers", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    whisker("before", before, 6),
    whisker("after", after, height - 6),
  );
}
