"""The newest traces of the backends that keep some, and one by its ID, in the form of `trace.json` with errors."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lab.backend import jaeger, zipkin
from lab.backend.http import Http

Trace = Mapping[str, Any]
"""A trace as `trace.json` has it; each of its spans also has `error`."""

OK, NOT_FOUND = 200, 404


class Recent(Protocol):
    """A backend's traces. Both methods raise `OSError` without an answer."""

    def newest(self, http: Http, service: str, limit: int) -> list[Trace]:
        """Return the newest traces of a service, at most so many, of the last hour."""

    def one(self, http: Http, trace_id: str) -> Trace | None:
        """Return a trace; None if it is not kept."""


@dataclass(frozen=True)
class InJaeger:
    """By Jaeger's query API."""

    def newest(self, http: Http, service: str, limit: int) -> list[Trace]:
        """See `Recent.newest`."""
        answer = json.loads(http.get("JAEGER_PORT", f"/api/traces?service={service}&limit={limit}&lookback=1h"))
        return [self._marked(trace) for trace in answer["data"]]

    def one(self, http: Http, trace_id: str) -> Trace | None:
        """See `Recent.one`."""
        found = _body(http, "JAEGER_PORT", f"/api/traces/{trace_id}")
        traces = found["data"] if found else []
        return self._marked(traces[0]) if traces else None

    def _marked(self, trace: dict[str, Any]) -> Trace:
        record = jaeger.trace_record(trace)
        tags = [{tag["key"]: tag["value"] for tag in span["tags"]} for span in trace["spans"]]
        return _with_errors(record, [one.get("error") in (True, "true") for one in tags])


@dataclass(frozen=True)
class InZipkin:
    """By Zipkin's query API."""

    def newest(self, http: Http, service: str, limit: int) -> list[Trace]:
        """See `Recent.newest`."""
        path = f"/api/v2/traces?serviceName={service}&limit={limit}&lookback={zipkin.LOOKBACK_MS}"
        return [self._marked(spans) for spans in json.loads(http.get("ZIPKIN_PORT", path))]

    def one(self, http: Http, trace_id: str) -> Trace | None:
        """See `Recent.one`."""
        spans = _body(http, "ZIPKIN_PORT", f"/api/v2/trace/{trace_id}")
        return self._marked(spans) if spans else None

    def _marked(self, spans: list[dict[str, Any]]) -> Trace:
        return _with_errors(zipkin.trace_record(spans), ["error" in span.get("tags", {}) for span in spans])


RECENT: Mapping[str, Recent] = {"jaeger": InJaeger(), "jaeger-badger": InJaeger(), "zipkin": InZipkin()}
"""By the backend's name in `BACKENDS`."""


def _body(http: Http, port_variable: str, path: str) -> Any:
    """Return the JSON of an answer; None if there is nothing at the path."""
    status, body = http.send("GET", port_variable, path)
    if status == NOT_FOUND:
        return None
    if status != OK:
        raise OSError(f"GET {path} was answered with HTTP status {status}")
    return json.loads(body)


def _with_errors(record: Trace, errors: list[bool]) -> Trace:
    spans = [{**span, "error": error} for span, error in zip(record["spans"], errors, strict=True)]
    return {**record, "spans": spans}
