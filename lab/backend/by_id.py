"""Traces looked up by their IDs, in the backends that find them so.

Both APIs take many IDs at once; what they do not have, they leave out of the answer.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from lab.backend.http import Http

LookUp = Callable[[Http, Sequence[str]], Mapping[str, int]]
"""Returns how many spans a backend has of each trace, by its ID, without those that it does not have.

Raises `OSError` without an answer.
"""

MOST_IDS = 100
"""In one request: Zipkin's server takes a first line of 4,096 bytes."""

DIGITS = 32
# Zipkin's API of many traces rejects a single ID.
NO_TRACE = "1"


def _in_jaeger(http: Http, ids: Sequence[str]) -> Mapping[str, int]:
    wanted = "&".join(f"traceID={one}" for one in ids)
    answer = json.loads(http.get("JAEGER_PORT", f"/api/traces?{wanted}"))
    return {trace["traceID"].zfill(DIGITS): len(trace["spans"]) for trace in answer["data"]}


def _in_zipkin(http: Http, ids: Sequence[str]) -> Mapping[str, int]:
    answer = json.loads(http.get("ZIPKIN_PORT", f"/api/v2/traceMany?traceIds={','.join((*ids, NO_TRACE))}"))
    return {spans[0]["traceId"].zfill(DIGITS): len(spans) for spans in answer}


BY_ID: Mapping[str, LookUp] = {"jaeger": _in_jaeger, "zipkin": _in_zipkin}
"""By the backend's name in `BACKENDS`."""
