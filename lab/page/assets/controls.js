// What can be changed, each with the command that does the same.

import { choice, html, say } from "./dom.js";
import { DASH } from "./format.js";

/** The settings; `apply(control, value)` is called when a value shall become true. */
export function controls(place, apply) {
  let offered = null;
  let rows = [];

  function draw(state) {
    const offers = JSON.stringify(state.controls.map(({ name, label, values }) => [name, label, values]));
    if (offers !== offered) {
      offered = offers;
      rows = state.controls.map((control) => row(control, apply));
      place.replaceChildren(...rows.map(({ element }) => element));
    }
    rows.forEach(({ update }, index) => update(state.controls[index], state.phase === "up"));
  }

  return { draw, reset: () => rows.forEach(({ reset }) => reset()) };
}

function row(first, apply) {
  let control = first;
  let ready = false;
  let edited = false;
  const id = `set-${first.name}`;
  const command = html("code", { id: `${id}-command` });
  const hint = html("span", { class: "hint" }, "not applied yet");
  const button = html("button", { type: "button", "aria-label": `Apply ${first.label}` }, "Apply");
  const options = first.values.map((value, index) => [index, String(value)]);
  const { select, parts } = choice(id, first.label, options);
  select.setAttribute("aria-describedby", command.id);
  const element = html("div", { class: "control" }, ...parts, button, html("p", {}, command, " ", hint));

  const chosen = () => control.values[select.selectedIndex];

  function refresh() {
    edited = edited && chosen() !== control.value;
    if (!edited) select.selectedIndex = control.values.indexOf(control.value);
    const value = chosen();
    say(command, value === undefined ? DASH : control.command.replace("%s", () => value));
    hint.hidden = !edited;
    // Not `disabled`: a button that is, loses the focus.
    button.setAttribute("aria-disabled", String(!edited || !ready));
  }

  select.addEventListener("change", () => {
    edited = true;
    refresh();
  });
  button.addEventListener("click", () => {
    if (edited) apply(control, chosen());
  });

  function update(now, mayChange) {
    control = now;
    ready = mayChange;
    refresh();
  }

  function reset() {
    edited = false;
    refresh();
  }

  return { element, update, reset };
}
