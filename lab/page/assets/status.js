// The page's head: the system, what goes wrong, and in one spoken line what has just happened.

import { byId, html, say } from "./dom.js";
import { countdown, DASH, number } from "./format.js";

const COUNTED_MS = 1000;

/** The head; `show` takes a new state and the one before it. */
export function status() {
  let state = null;

  function show(now, before) {
    state = now;
    phase(now.phase);
    say(byId("choice"), now.choice ? described(now.choice) : "No system");
    say(byId("message"), (now.phase !== "failed" && now.message) || "");
    problem((now.phase === "failed" && (now.message ?? "The system failed.")) || "");
    count();
    offerLinks(now.links);
    const news = before ? happened(before, now) : "";
    if (news) announce(news);
  }

  // Not a live region: nobody wants every second to be said.
  function count() {
    const ends = state?.fault_expires_unix_s ?? null;
    byId("fault").hidden = ends === null;
    if (ends === null) return;
    const left = ends - Date.now() / 1000;
    const fault = `Fault ${state.choice?.fault ?? ""}`;
    say(byId("fault"), left > 0 ? `${fault} ends in ${countdown(left)}` : `${fault} is ending`);
  }

  setInterval(count, COUNTED_MS);
  return { show, phase, problem, announce };
}

function phase(word) {
  say(byId("phase"), word);
  document.body.dataset.phase = word;
  document.title = `Tollbooth: ${word}`;
}

const problem = (text) => say(byId("problem"), text);
const announce = (text) => say(byId("said"), text);

function described(choice) {
  const parts = [
    choice.topology,
    choice.telemetry,
    choice.sampling && `sampling ${choice.sampling}`,
    `sidecar ${choice.sidecar ?? DASH}`,
    `${number(choice.load_per_s, 2)} requests/s`,
  ];
  return parts.filter(Boolean).join(" · ");
}

function happened(before, now) {
  const [had, has] = [before, now].map(({ fault_expires_unix_s: ends }) => (ends ?? null) !== null);
  const news = [
    now.phase !== before.phase && `The system is ${now.phase}${now.message ? `: ${now.message}` : ""}.`,
    has && !had && `The fault ${now.choice?.fault ?? ""} began.`,
    had && !has && "The fault has ended.",
  ];
  return news.filter(Boolean).join(" ");
}

function offerLinks(links) {
  const place = byId("links");
  const offered = JSON.stringify(links);
  if (place.dataset.offered === offered) return;
  place.dataset.offered = offered;
  const items = links
    .filter(({ url }) => url.startsWith("http://"))
    .map(({ name, url }) => html("li", {}, html("a", { href: url, target: "_blank", rel: "noreferrer" }, name)));
  place.replaceChildren(...items);
}
