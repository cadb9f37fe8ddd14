// Where the graph's parts are drawn: pure, and only anew if the parts change, so that labels do not jump.

const SIDE = 64;
const NODE_HEIGHT = 32;
// Between two boxes beside each other: room for an arrow.
const GAP = 30;
const TURNS = 20;
const LABEL = { measured: { width: 92, height: 31 }, none: { width: 20, height: 17 } };
// Where along an arrow a label may be, and how far beside it: the first place that is free is taken.
const ALONG = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78];
const ASIDE = [0, 16, -16, 32, -32, 48, -48];
const STEPS = 24;

/**
 * Place nodes, arrows and their labels. `x` and `y` of a node are from 0 to 1; a narrow graph goes down, not right.
 * `measured` of an edge: whether its label has figures.
 */
export function layout(nodes, edges, narrow) {
  const size = canvas(nodes, narrow);
  const placed = boxes(nodes, size, narrow);
  const curves = edges
    .filter(({ source, target }) => source !== target && placed.has(source) && placed.has(target))
    .map((edge) => curved(edge, edges, placed, size));
  return { ...size, nodes: [...placed.values()], edges: labelled(curves, [...placed.values()], size) };
}

function canvas(nodes, narrow) {
  const rows = distinct(nodes.map((node) => (narrow ? node.x : node.y))).length;
  return narrow
    ? { width: 620, height: Math.min(1000, Math.max(240, rows * 170)) }
    : { width: 860, height: Math.min(560, Math.max(220, rows * 118)) };
}

function boxes(nodes, { width, height }, narrow) {
  const [across, down] = narrow ? ["y", "x"] : ["x", "y"];
  const x = spread(nodes.map((node) => node[across]), SIDE, width - SIDE);
  const y = spread(nodes.map((node) => node[down]), SIDE / 2, height - SIDE / 2);
  const found = nodes.map((node) => ({
    ...node,
    x: x(node[across]),
    y: y(node[down]),
    width: Math.min(124, Math.max(52, 7.4 * node.label.length + 18)),
    height: NODE_HEIGHT,
  }));
  for (let turn = 0; turn < TURNS; turn++) pushApart(found, width);
  return new Map(found.map((node) => [node.id, node]));
}

/** From values to places: their order is kept, and the room between neighbours is the same. */
function spread(values, from, until) {
  const order = distinct(values);
  const share = (value) => (order.length > 1 ? order.indexOf(value) / (order.length - 1) : 0.5);
  return (value) => from + share(value) * (until - from);
}

function distinct(values) {
  return [...new Set(values)].sort((one, other) => one - other);
}

function pushApart(found, width) {
  for (const [index, one] of found.entries()) {
    for (const other of found.slice(index + 1)) {
      const missing = (one.width + other.width) / 2 + GAP - Math.abs(one.x - other.x);
      if (missing <= 0 || Math.abs(one.y - other.y) > NODE_HEIGHT + 8) continue;
      const side = one.x <= other.x ? 1 : -1;
      one.x -= (side * missing) / 2;
      other.x += (side * missing) / 2;
    }
    one.x = Math.min(width - one.width / 2 - 2, Math.max(one.width / 2 + 2, one.x));
  }
}

/** A curve is nowhere outside of its ends and its control point. */
function within(value, size) {
  return Math.min(size - 2, Math.max(2, value));
}

function curved(edge, edges, placed, { width, height }) {
  const [from, to] = [placed.get(edge.source), placed.get(edge.target)];
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const others = [...placed.values()].filter((node) => node !== from && node !== to);
  const back = edges.some(({ source, target }) => source === edge.target && target === edge.source);
  const blocked = others.some((node) => crosses(from, to, node));
  const bend = blocked ? 34 + 0.2 * length : back ? Math.max(14, 0.07 * length) : 0;
  // The middle of such a curve is half as far from the straight line as its control point.
  const control = {
    x: within((from.x + to.x) / 2 - ((to.y - from.y) / length) * bend * 2, width),
    y: within((from.y + to.y) / 2 + ((to.x - from.x) / length) * bend * 2, height),
  };
  return { ...edge, start: border(from, control, 2), control, end: border(to, control, 4) };
}

function crosses(from, to, node) {
  return points({ start: from, control: middle(from, to), end: to }).some((point) => inside(point, node, 8));
}

function middle(from, to) {
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
}

/** Where the line from a node's middle to a point leaves its box, with a gap. */
function border(node, towards, gap) {
  const [dx, dy] = [towards.x - node.x, towards.y - node.y];
  const share = Math.min((node.width / 2 + gap) / Math.abs(dx), (node.height / 2 + gap) / Math.abs(dy), 1);
  return { x: node.x + dx * share, y: node.y + dy * share };
}

/** The point of a curve at a share of its way. */
export function at({ start, control, end }, share) {
  const along = (axis) =>
    (1 - share) ** 2 * start[axis] + 2 * share * (1 - share) * control[axis] + share ** 2 * end[axis];
  return { x: along("x"), y: along("y") };
}

function points(curve) {
  return Array.from({ length: STEPS + 1 }, (_, step) => at(curve, step / STEPS));
}

function labelled(curves, nodes, size) {
  const ways = curves.map(points);
  const taken = nodes.map((node) => rectangle(node, 3));
  const labels = new Map();
  const shortestFirst = [...curves.keys()].sort((one, other) => span(curves[one]) - span(curves[other]));
  for (const index of shortestFirst) {
    const others = ways.filter((_, other) => other !== index).flat();
    const place = freest(curves[index], taken, others, size);
    labels.set(index, place);
    taken.push(rectangle(place, 2));
  }
  return curves.map((curve, index) => ({ ...curve, label: labels.get(index) }));
}

function span({ start, end }) {
  return Math.hypot(end.x - start.x, end.y - start.y);
}

function freest(curve, taken, others, size) {
  const shape = curve.measured ? LABEL.measured : LABEL.none;
  let best = null;
  for (const aside of ASIDE) {
    for (const share of ALONG) {
      const place = { ...beside(curve, share, aside), ...shape };
      const cost = costOf(place, taken, others, size) + Math.abs(aside) + 20 * Math.abs(share - 0.5);
      if (best === null || cost < best.cost) best = { ...place, cost };
    }
  }
  return best;
}

function beside(curve, share, aside) {
  const [before, after] = [at(curve, share - 0.02), at(curve, share + 0.02)];
  const length = Math.hypot(after.x - before.x, after.y - before.y) || 1;
  const { x, y } = at(curve, share);
  return { x: x - ((after.y - before.y) / length) * aside, y: y + ((after.x - before.x) / length) * aside };
}

/** What is covered: other labels and nodes are worst, then what is cut off, then other arrows. */
function costOf(place, taken, others, { width, height }) {
  const own = rectangle(place, 0);
  const covered = taken.reduce((sum, other) => sum + overlap(own, other), 0);
  const visible = overlap(own, { left: 0, right: width, top: 0, bottom: height });
  const hidden = others.filter((point) => inside(point, place, 0)).length;
  return 10 * covered + 10 * (place.width * place.height - visible) + 6 * hidden;
}

function rectangle({ x, y, width, height }, gap) {
  return {
    left: x - width / 2 - gap,
    right: x + width / 2 + gap,
    top: y - height / 2 - gap,
    bottom: y + height / 2 + gap,
  };
}

function overlap(one, other) {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return Math.max(0, wide) * Math.max(0, high);
}

function inside(point, box, gap) {
  return (
    Math.abs(point.x - box.x) < box.width / 2 + gap && Math.abs(point.y - box.y) < box.height / 2 + gap
  );
}
