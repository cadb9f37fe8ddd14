// Polls the server and shows its answers; sends changes.

import { Gone, Rejected, request, takeToken } from "./api.js";
import { containers } from "./containers.js";
import { controls } from "./controls.js";
import { byId, say } from "./dom.js";
import { clock } from "./format.js";
import { gantt } from "./gantt.js";
import { graph } from "./graph.js";
import { marks } from "./marks.js";
import { poll } from "./poll.js";
import { runs } from "./runs.js";
import { status } from "./status.js";

const EVERY_MS = 1000;
// Also if the server takes longer than that to answer.
const PAUSE_MS = 200;
const GONE_MS = 5000;
const LIVE = ["up", "changing"];

const head = status();
const settings = controls(byId("controls"), apply);
const trace = part("trace", "/api/traces", 5, gantt(byId("trace-content"), request, another));
const live = [
  part("system", "/api/graph", 1, graph(byId("graph"), byId("edges"))),
  part("containers", "/api/containers", 1, containers(byId("containers-content"))),
  part("changes", "/api/marks", 2, marks(byId("changes-content"))),
  trace,
];
const folders = part("runs", "/api/runs", 30, runs(byId("runs-content"), request, head.announce));

let state = null;
let answered = null;
let unanswered = 0;
let turn = 0;
let sending = false;

/** A section: what it requests every so many turns, and how it draws the answer, which may return a note. */
function part(name, path, every, { draw }) {
  const [content, note] = [byId(`${name}-content`), byId(`${name}-note`)];

  async function refresh() {
    try {
      const answer = await request(path);
      // Before it is drawn: what is hidden has no width.
      content.hidden = false;
      say(note, (await draw(answer)) ?? "");
    } catch (error) {
      if (!(error instanceof Rejected) || error.status === 401) throw error;
      say(note, error.message);
    }
  }

  function rest(reason) {
    content.hidden = true;
    say(note, reason);
  }

  return { every, refresh, rest };
}

async function refresh() {
  const began = performance.now();
  try {
    accept(await request("/api/state"));
    await sections();
  } catch (error) {
    return trouble(error);
  }
  return Math.max(PAUSE_MS, EVERY_MS - (performance.now() - began));
}

async function sections() {
  const due = ({ every }) => turn % every === 0;
  if (LIVE.includes(state.phase)) {
    for (const one of live.filter(due)) await one.refresh();
  } else {
    for (const one of live) one.rest(`The system is ${state.phase}.`);
  }
  if (due(folders)) await folders.refresh();
  turn += 1;
}

function accept(now) {
  head.show(now, state);
  settings.draw(now);
  state = now;
  answered = Date.now() / 1000;
  unanswered = 0;
}

/** Say what is wrong; return after how many ms to try again, or null: the token will not become valid. */
function trouble(error) {
  if (error instanceof Rejected && error.status === 401) {
    head.phase("no access");
    head.problem(error.message);
    return null;
  }
  if (!(error instanceof Gone)) {
    console.error(error);
    head.problem(error.message);
    return GONE_MS;
  }
  // Browsers drop what they request while a network comes or goes, as those of containers do.
  unanswered += 1;
  if (unanswered === 1) return EVERY_MS;
  head.phase("gone");
  const shown = state ? ` What is shown is of ${clock(answered)}.` : "";
  head.problem(`The page's server does not answer.${shown} \`make up\` starts it.`);
  return GONE_MS;
}

async function apply(control, value) {
  if (sending) return;
  const phase = document.body.dataset.phase;
  if (phase !== "up") {
    head.announce(`The system is ${phase}. Settings can be changed when it is up.`);
    return;
  }
  sending = true;
  try {
    accept(await request("/api/change", { version: state.version, settings: { [control.name]: value } }));
    head.announce(`${control.label} becomes ${value}.`);
  } catch (error) {
    rejected(error);
  }
  sending = false;
}

/** Nothing was changed. With another's change in between (409), what was chosen here is forgotten. */
function rejected(error) {
  if (!(error instanceof Rejected) || error.status === 401) {
    trouble(error);
  } else if (error.status === 409) {
    settings.reset();
    accept(error.body.state);
    head.announce("Nothing was changed: the system became another meanwhile. These are its present settings.");
  } else {
    head.announce(`Nothing was changed: ${error.message}.`);
  }
}

function another() {
  trace.refresh().catch(trouble);
}

// Only the fragment differs if a new address is typed into an open tab, and then nothing is loaded.
addEventListener("hashchange", () => takeToken() && location.reload());
takeToken();
poll(refresh);
