// What each container uses now, and its CPU in the last minute.

import { svg } from "./dom.js";
import { clock, number, scaled } from "./format.js";
import { table } from "./table.js";

const COLUMNS = [
  ["container"],
  ["role"],
  ["CPU, cores", "number"],
  ["last minute"],
  ["memory, MiB", "number"],
  ["received, kB/s", "number"],
  ["sent, kB/s", "number"],
];
const SPARK = { width: 96, height: 20, points: 60 };

/** The table of containers; `draw` shows the server's newest figures, and returns a note if there are none. */
export function containers(place) {
  const rows = table("Use of each container", COLUMNS);
  const sparks = new Map();
  place.append(rows.element);

  function draw(data) {
    const most = Math.max(0.01, ...data.containers.flatMap(({ history }) => history.cpu_cores));
    rows.caption(
      `At ${clock(data.at_unix_s)}, means of ${number(data.window_s)} s. ` +
        `Lines: CPU in the last minute, all from 0 to ${number(most, 2)} cores.`,
    );
    rows.fill(data.containers.map((one) => cells(one, most, sparks)));
    return data.containers.length ? "" : "There are no figures of containers yet.";
  }

  return { draw };
}

function cells(one, most, sparks) {
  if (!sparks.has(one.name)) sparks.set(one.name, spark());
  const { element, line } = sparks.get(one.name);
  line.setAttribute("points", points(one.history.cpu_cores, most));
  return [
    one.name,
    one.role,
    number(one.cpu_cores),
    element,
    number(scaled(one.memory_bytes, 2 ** 20)),
    number(scaled(one.network_receive_bytes_per_s, 1000)),
    number(scaled(one.network_transmit_bytes_per_s, 1000)),
  ];
}

/** Hidden from screen readers: the column before it says the newest value. */
function spark() {
  const line = svg("polyline");
  const { width, height } = SPARK;
  const element = svg("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, line);
  return { element, line };
}

/** The newest value is at the right edge; what was not measured is left out. */
function points(values, most) {
  const step = SPARK.width / (SPARK.points - 1);
  const oldest = SPARK.width - (values.length - 1) * step;
  return values
    .map((value, index) => [value, oldest + index * step])
    .filter(([value]) => Number.isFinite(value))
    .map(([value, x]) => `${x.toFixed(1)},${(SPARK.height - 1 - (value / most) * (SPARK.height - 2)).toFixed(1)}`)
    .join(" ");
}
