// Elements from data. Strings become text, never markup, so what the server says cannot act.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An HTML element with attributes and children. */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Set an element's text, and leave it alone if it is that: a live region would speak again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A region that scrolls sideways or down by itself, and can be reached with the keyboard for that. */
export function scrolling(label, ...children) {
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

/** A list of choices with its label: options are pairs of a value and a text. */
export function choice(id, label, options) {
  const select = html("select", { id });
  offer(select, options);
  return { select, parts: [html("label", { for: id }, label), select] };
}

/** Replace what a list offers, and keep what is chosen, if that is still offered. */
export function offer(select, options) {
  const chosen = select.value;
  const offered = JSON.stringify(options);
  if (select.dataset.offered === offered) return;
  select.dataset.offered = offered;
  select.replaceChildren(...options.map(([value, text]) => html("option", { value }, text)));
  if (options.some(([value]) => String(value) === chosen)) select.value = chosen;
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
