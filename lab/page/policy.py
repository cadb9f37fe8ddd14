"""Who may request what of the page: checks of a request before anything is done, and the headers of every answer. Pure.

Any site's page can make a browser send requests to 127.0.0.1. It knows no token, cannot choose Host or Origin, and may
not read answers. A site whose name leads to 127.0.0.1 (DNS rebinding) has the wrong Host.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.page.answers import JSON, Wrong

HOSTS = ("127.0.0.1", "localhost")
METHODS = ("GET", "POST")
API = "/api/"
SCHEME = "Bearer "
MOST_BODY_BYTES = 4096
MOST_DIGITS = 10

CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "frame-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
# No header of CORS is among them: no other origin may read anything.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CSP,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# A report may be somebody else's: no script, no form, an origin of its own. "" leaves a header out.
REPORT_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Frame-Options": "",
}


@dataclass(frozen=True)
class PageRequest:
    """A request: its method, its path, what is behind `?`, and its headers by lower-case name.

    A header that comes twice has both values, with a comma between them.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def check(request: PageRequest, port: int, token: str) -> None:
    """Raise `Wrong` for a request that is not for this page, or not from it."""
    host = request.headers.get("host", "")
    if host not in [f"{name}:{port}" for name in HOSTS]:
        raise Wrong(403, "this page is only at 127.0.0.1 and localhost")
    if request.headers.get("origin", f"http://{host}") != f"http://{host}":
        raise Wrong(403, "another site may not use this page")
    if request.method not in METHODS:
        raise Wrong(405, "only GET and POST are possible")
    if request.path.startswith(API) and not _has(token, request.headers.get("authorization", "")):
        raise Wrong(401, "the token is missing or wrong: open the address that `make up` prints")


def body_bytes(request: PageRequest) -> int:
    """Return the length of a request's body. Raises `Wrong` for one that is not possible here."""
    length = request.headers.get("content-length", "0" if request.method == "GET" else "")
    if "transfer-encoding" in request.headers or not (length.isascii() and length.isdigit()):
        raise Wrong(411, "the length of the body is not known")
    if len(length) > MOST_DIGITS or int(length) > (0 if request.method == "GET" else MOST_BODY_BYTES):
        raise Wrong(413, f"a body has at most {MOST_BODY_BYTES} bytes, and GET has none")
    if request.method == "POST" and request.headers.get("content-type", "").partition(";")[0].strip() != JSON:
        raise Wrong(415, f"the body has to be {JSON}")
    return int(length)


def headers_of(own: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an answer that has some of its own."""
    return {name: value for name, value in {**HEADERS, **own}.items() if value}


def _has(token: str, authorization: str) -> bool:
    """Whether a header has the token, compared in a time that says nothing about it."""
    given = authorization.removeprefix(SCHEME) if authorization.startswith(SCHEME) else ""
    return hmac.compare_digest(given.encode(), token.encode())
