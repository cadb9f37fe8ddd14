// The only way to the server: one request at a time, each with the token of this start.

const KEPT = "tollbooth-token";
const LONGEST_MS = 10_000;
const ADDRESS = "open the address that `make up` prints";

/** The server rejected a request. */
export class Rejected extends Error {
  constructor(status, body) {
    super(body.error ?? `The server answered with status ${status}.`);
    this.status = status;
    this.body = body;
  }
}

/** The server did not answer. */
export class Gone extends Error {}

/** Keep the token of the address for reloads of this tab, and take it out of the address bar. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return false;
  sessionStorage.setItem(KEPT, given);
  history.replaceState(null, "", location.pathname);
  return true;
}

let last = Promise.resolve();

/** Return the server's answer to a query, or to a change, once every earlier one has been answered. */
export function request(path, change = null) {
  const answer = last.then(() => sent(path, change));
  last = answer.catch(() => {});
  return answer;
}

async function sent(path, change) {
  const token = sessionStorage.getItem(KEPT);
  if (!token) throw new Rejected(401, { error: `There is no token: ${ADDRESS}` });
  const headers = { Authorization: `Bearer ${token}` };
  const posted = { method: "POST", body: JSON.stringify(change) };
  if (change) headers["Content-Type"] = "application/json";
  let response;
  let body;
  try {
    response = await fetch(path, {
      ...(change ? posted : {}),
      headers,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    body = await response.json();
  } catch {
    // An error need not have a body; an answer that breaks off is none.
    if (!response || response.ok) throw new Gone();
    body = {};
  }
  if (!response.ok) throw new Rejected(response.status, body);
  return body;
}
