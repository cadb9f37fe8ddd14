"""What the page shows of the running system: its counters and requests as they are written, and marks of changes."""

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.backend import Backend, Trace
from lab.page import traced
from lab.page.answers import Wrong
from lab.page.envoys import Envoys
from lab.page.figures import Figures, Request, of_calls, of_requests, requests_of
from lab.page.kept import Kept
from lab.page.known import Known
from lab.page.marks import Counters, Marks, Summary, batches, summed_up
from lab.page.observed import KEPT_S, SEEN_WITHIN_S, WINDOW_S, Observed
from lab.page.state import View
from lab.page.tail import Tail
from lab.page.traced import Listed
from lab.record import SECOND_NS
from lab.spec.example import Edge

# The latest requests that an arrow's figures are of.
REQUESTS_S = 10.0
MOST_REQUESTS = 20_000
MOST_TRACES = 20
# Spans of a newer trace may still be on their way.
COMPLETE_AFTER_S = 2.0
TRACED_S = 60.0
# A look at traces takes the backend tens of milliseconds, one at the marks as long here.
TRACES_EVERY_S = 5.0
MARKS_EVERY_S = 5.0
FIGURES_EVERY_S = 1.0
COUNTERS, REQUESTS = "counters.jsonl", "requests.csv"
PROXIED = ("service", "sidecar")
RUNS = ("up", "changing")
# No answer, or none that can be read.
FAILED = (OSError, ValueError, LookupError)
SILENT = "the backend of traces does not answer: wait, or look at its container"


class Live:
    """The system whose containers write to `folder`. Its methods may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        # Held during requests to Envoys and backends, which may take seconds.
        self._requesting = threading.Lock()
        self._counters, self._requests = Tail(folder / COUNTERS), Tail(folder / REQUESTS)
        self._observed, self._sent = Observed(), deque[Request](maxlen=MOST_REQUESTS)
        self._marks, self._roles = Marks(), dict[str, str]()
        self._envoys: tuple[Known, Envoys] | None = None
        self._summaries = Kept[Summary](MARKS_EVERY_S)
        self._figures = Kept[dict[Edge, Figures]](FIGURES_EVERY_S)
        self._traces = Kept[list[Trace] | None](TRACES_EVERY_S)

    def tick(self, view: View) -> None:
        """Reads what was written since the last time, and sees whether something was changed."""
        roles = dict(view.known.roles) if view.known and view.phase == "up" else None
        with self._lock:
            self._observed.feed(self._counters.lines())
            if not self._requests.path.exists():
                self._sent.clear()
            self._sent.extend(requests_of(self._requests.lines()))
            if roles is not None:
                self._marks.see(view.settings, time.time(), self._summary)
                self._roles = roles

    def fresh(self) -> bool:
        """Whether the observer sees containers."""
        with self._lock:
            return time.time_ns() - self._observed.last_ns() < SEEN_WITHIN_S * SECOND_NS

    def containers(self) -> dict[str, Any]:
        """Return what each container uses."""
        with self._lock:
            table = self._observed.table(self._roles)
            return {"at_unix_s": self._observed.last_ns() / SECOND_NS, "window_s": WINDOW_S, "containers": table}

    def marks(self) -> dict[str, Any]:
        """Return what changes did, the newest first."""
        with self._lock:
            if not self._marks.marks:
                return {"marks": []}
            since_s = self._marks.since_s
            now = self._summaries.get(str(since_s), lambda: self._summary(since_s))
            return {"marks": self._marks.shown(now)}

    def graph(self, view: View) -> dict[str, Any]:
        """Return the picture with what passes along each arrow."""
        known, at_s = view.known, round(time.time(), 3)
        if known is None or view.phase not in RUNS:
            return {"at_unix_s": at_s, "nodes": [], "edges": []}
        picture = known.picture
        with self._requesting:
            figures = self._figures.get(known.of.id, lambda: self._measured(known, picture.edges))
        edges = [
            {"source": edge.source, "target": edge.target, **figures.get(edge, Figures()).shown()}
            for edge in picture.edges
        ]
        return {"at_unix_s": at_s, "nodes": [vars(node) for node in picture.nodes], "edges": edges}

    def traces(self, view: View) -> dict[str, Any]:
        """Return the newest traces, slow ones first. Raises `Wrong` if their backend does not answer."""
        if view.known is None or view.phase not in RUNS:
            return vars(Listed([]))
        with self._requesting:
            found = self._newest(view.known)
        if found is None:
            raise Wrong(503, SILENT)
        return vars(Listed(traced.listed(found)))

    def trace(self, view: View, trace_id: str) -> dict[str, Any]:
        """Return one trace. Raises `Wrong`."""
        backend = view.known.backend if view.known else Backend()
        try:
            found = backend.traces([trace_id])
        except FAILED:
            raise Wrong(503, SILENT) from None
        if not found or not found[0]["spans"]:
            raise Wrong(404, "there is no such trace: backends keep only the newest")
        return traced.bars(found[0])

    def _newest(self, known: Known) -> list[Trace] | None:
        """Return the newest traces; None if their backend does not answer."""

        def newest() -> list[Trace] | None:
            try:
                return backend.newest(known.picture.entry, MOST_TRACES)
            except FAILED:
                return None

        backend = known.backend
        return self._traces.get(known.of.id, newest)

    def _measured(self, known: Known, edges: Sequence[Edge]) -> dict[Edge, Figures]:
        """Return the figures of all edges that something measures."""
        client = self._client()
        found = {edge: client for edge in edges if edge.generated}
        if any(edge.counted for edge in edges):
            if self._envoys is None or self._envoys[0] is not known:
                self._envoys = known, Envoys(known.engine.published_port)
            counted = self._envoys[1].figures([edge.counted for edge in edges if edge.counted])
            found |= {edge: counted[edge.counted] for edge in edges if edge.counted and edge.counted in counted}
        seen = [edge for edge in edges if edge.traced and edge not in found]
        return found | self._traced(known, seen, client.requests_per_s) if seen else found

    def _traced(self, known: Known, edges: Sequence[Edge], per_s: float | None) -> dict[Edge, Figures]:
        now_ns = time.time_ns()
        complete = [trace for trace in self._newest(known) or () if _age_s(trace, now_ns) > COMPLETE_AFTER_S]
        recent = [trace for trace in complete if _age_s(trace, now_ns) < TRACED_S]
        calls = traced.calls(recent)
        return {edge: of_calls(calls.get(edge.traced or ("", ""), []), len(recent), per_s) for edge in edges}

    def _client(self) -> Figures:
        """Return what the load generator recorded lately; nothing where it writes no record while it sends."""
        with self._lock:
            sent = list(self._sent)
        since_ns = time.time_ns() - round(REQUESTS_S * SECOND_NS)
        recent = [request for request in sent if request.end_ns > since_ns]
        return of_requests(recent, REQUESTS_S) if sent else Figures()

    def _summary(self, since_s: float) -> Summary:
        """Return the state that began then, under the roles that it has."""
        now_s = time.time()
        # Of an older state the latest samples are kept.
        start_s = max(since_s, now_s - KEPT_S + WINDOW_S)
        services = [name for name, role in self._roles.items() if role == "service"]
        counters = Counters(
            self._observed.samples([name for name, role in self._roles.items() if role in PROXIED], "cpu_usage_ns"),
            self._observed.samples(services, "cpu_usage_ns"),
            self._observed.samples(services, "jit_cpu_ns"),
        )
        recent = [request for request in self._sent if request.end_ns > start_s * SECOND_NS]
        return summed_up(batches(counters, recent, start_s, now_s))


def _age_s(trace: Trace, now_ns: int) -> float:
    starts: Sequence[Mapping[str, Any]] = trace["spans"]
    return (now_ns - min((span["start_ns"] for span in starts), default=0)) / SECOND_NS
