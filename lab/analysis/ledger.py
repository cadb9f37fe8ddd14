"""What became of the spans of tracers that count them (services/telemetry/otel-streaming): every span has one fate."""

import math
from collections.abc import Iterator, Mapping

from lab.record import DUPLICATES, TrialData, ended_on_purpose

FATES = ("acknowledged", "queue_full", "too_large", "rejected", "given_up")
COUNTED = ("ended", "resent", *FATES)
COUNTING = "otel-streaming"


def spans_accounted_for(data: TrialData) -> Iterator[str]:
    """Reject tracers that lost spans without counting them, and backends that count others than the tracers.

    The backend has at least what was acknowledged, unless a fault killed it. Without faults, one that counts duplicates
    has exactly that besides them. A service that a fault killed leaves no counts, and a fault hides answers.
    """
    ledgers = {node: counts for node in data.trial.names("service") if (counts := counted(data, node))}
    for node, counts in ledgers.items():
        settled = sum(counts[fate] for fate in FATES)
        if counts["ended"] != settled:
            yield f"{node}: {counts['ended']:.0f} spans ended, and {settled:.0f} are accounted for"
    if not ledgers and str(data.trial.settings.get("telemetry")).partition("@")[0] == COUNTING:
        yield f"no service counted its spans, and the tracer of {COUNTING} does"
    if not ledgers:
        return
    silent = [node for node in data.trial.names("service") if node not in ledgers]
    if silent and not data.injections:
        yield f"{', '.join(silent)}: did not count spans, while other services did"
        return
    acknowledged, resent, given_up = (
        sum(counts[name] for counts in ledgers.values()) for name in ("acknowledged", "resent", "given_up")
    )
    backend, killed = data.trial.backend, ended_on_purpose(data.injections)
    if backend is None or backend.distinct_spans is None or not killed.isdisjoint(data.trial.names("backend")):
        return
    duplicates = backend.counters.get(DUPLICATES)
    unknown = 0.0
    if data.injections:
        unknown = math.inf
    elif duplicates is None:
        # What was sent again, or given up after it was sent, may have arrived without an answer.
        unknown = resent + given_up
    if not acknowledged <= backend.distinct_spans <= acknowledged + unknown:
        known = "" if duplicates is None else f" {duplicates:.0f} of them duplicates,"
        yield (
            f"the backend accepted {backend.accepted_spans} spans,{known} and the tracers count {acknowledged:.0f} "
            "acknowledged ones"
        )


def counted(data: TrialData, node: str) -> Mapping[str, float]:
    """Return what a node counted, by the names above; nothing if it counts no spans."""
    results = data.streams.get("results", {}).get(node)
    values = results.values if results else {}
    counts = {name: values.get(f"{node}_spans_{name}") for name in COUNTED}
    return {name: count for name, count in counts.items() if count is not None}
