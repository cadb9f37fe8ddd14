// Tables whose values change: cells stay, so that neither a reader's place nor the focus is lost.

import { html, say, scrolling } from "./dom.js";

/** A table in a scrolling region. Columns are pairs of a title and a class, such as "number". */
export function table(title, columns) {
  const caption = html("caption", {}, title);
  const head = columns.map(([text, look = ""]) => html("th", { scope: "col", class: look }, text));
  const body = html("tbody");
  const whole = html("table", {}, caption, html("thead", {}, html("tr", {}, ...head)), body);
  return {
    element: scrolling(title, whole),
    caption: (text) => say(caption, text),
    fill: (rows) => fill(body, rows, columns),
  };
}

function fill(body, rows, columns) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, index) => {
    const row = body.rows[index] ?? body.appendChild(emptyRow(columns));
    cells.forEach((cell, column) => put(row.cells[column], cell));
  });
}

function emptyRow(columns) {
  const cells = columns.map(([, look = ""], column) =>
    column ? html("td", { class: look }) : html("th", { scope: "row", class: look }),
  );
  return html("tr", {}, ...cells);
}

function put(cell, content) {
  if (!(content instanceof Node)) say(cell, content);
  else if (cell.firstChild !== content) cell.replaceChildren(content);
}
