// All results folders: two of them side by side, and the report of each.

import { choice, html, offer } from "./dom.js";
import { DASH, number } from "./format.js";
import { table } from "./table.js";

const LISTED = [["run"], ["started"], ["findings"], ["report"]];
const COMPARED = [
  ["level"],
  ["outcome"],
  ["first: ratio (95 %)"],
  ["first: finding"],
  ["second: ratio (95 %)"],
  ["second: finding"],
];

/** The runs; `announce` says in one line why a report cannot be shown. */
export function runs(place, request, announce) {
  const list = table("All results folders, newest first", LISTED);
  const pair = table("Two runs side by side", COMPARED);
  const first = choice("first-run", "First run", []);
  const second = choice("second-run", "Second run", []);
  const report = html("div", { class: "report" });
  const choices = html("p", { class: "choice" }, ...first.parts, ...second.parts);
  place.append(list.element, report, html("h3", {}, "Side by side"), choices, pair.element);
  const openers = new Map();
  let all = [];

  function draw(data) {
    all = [...data.runs].sort((one, other) => (one.started < other.started ? 1 : -1));
    list.fill(all.map(cells));
    choose();
    return all.length ? "" : "There are no runs yet. The first one: make experiment";
  }

  /** At first the newest run, and the one before it, if possible of the same experiment. */
  function choose() {
    const fresh = !first.select.value;
    for (const { select } of [first, second]) offer(select, all.map((run) => [run.folder, nameOf(run)]));
    const [newest, ...earlier] = all;
    const like = earlier.find((run) => run.experiment === newest.experiment) ?? earlier[0];
    if (fresh && like) second.select.value = like.folder;
    compare();
  }

  function compare() {
    const [one, other] = [first, second].map(({ select }) => all.find((run) => run.folder === select.value));
    if (one && other) pair.fill(sideBySide(one, other));
  }

  function cells(run) {
    if (!openers.has(run.folder)) openers.set(run.folder, opener(run));
    const findings = Object.entries(run.verdicts).map(([verdict, count]) => `${count} ${verdict}`);
    const link = run.report ? openers.get(run.folder) : DASH;
    return [nameOf(run), started(run), findings.join(", ") || DASH, link];
  }

  function opener(run) {
    const button = html("button", { type: "button", "aria-label": `Show the report of ${nameOf(run)}` }, "Show");
    button.addEventListener("click", () => {
      request(`/api/report?folder=${encodeURIComponent(run.folder)}`).then(
        ({ url }) => open(run, url, button),
        (error) => announce(error.message),
      );
    });
    return button;
  }

  /** A report may be another's: in its frame it can run nothing, and reach nothing. */
  function open(run, url, from) {
    const title = `Report of ${nameOf(run)}`;
    const heading = html("h3", { tabindex: -1 }, title);
    const close = html("button", { type: "button" }, "Close the report");
    close.addEventListener("click", () => {
      report.replaceChildren();
      from.focus();
    });
    report.replaceChildren(heading, close, html("iframe", { sandbox: "", title, src: url }));
    heading.focus();
  }

  for (const { select } of [first, second]) select.addEventListener("change", compare);
  return { draw };
}

const nameOf = (run) => run.folder.replace(/^results\//, "");
const started = (run) => run.started?.slice(0, 16).replace("T", " ") ?? DASH;

function sideBySide(one, other) {
  const keyOf = ({ level, outcome }) => JSON.stringify([level, outcome]);
  const [left, right] = [one, other].map(({ rows }) => new Map(rows.map((row) => [keyOf(row), row])));
  return [...new Map([...left, ...right]).values()].map((row) => [
    row.level,
    row.outcome,
    ...shown(left.get(keyOf(row))),
    ...shown(right.get(keyOf(row))),
  ]);
}

function shown(row) {
  if (!row) return [DASH, DASH];
  const interval = Number.isFinite(row.low) ? ` (${number(row.low)} to ${number(row.high)})` : "";
  const bound = { "at least": "≥ ", "at most": "≤ " }[row.bound] ?? "";
  return [bound + number(row.ratio) + interval, row.verdict ?? DASH];
}
