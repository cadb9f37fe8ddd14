"""How several endpoints share the spans of tracers, and which share of them the tracers dropped."""

from collections.abc import Mapping

from lab.analysis.ledger import counted
from lab.contract import Metric
from lab.record import LOCAL, Fields, NotDerivableError, TrialData

ACCEPTED = "accepted_spans"
# What a tracer counts of spans that it ended and that no endpoint accepted.
DROPPED = ("queue_full", "too_large", "rejected", "given_up")
FEWEST_ENDPOINTS = 2


def accepting(data: TrialData) -> Mapping[str, Fields]:
    """Return what each of several endpoints counted of itself, in order of their names.

    Nothing if there are none, or if one of them never said anything.
    """
    scraped: Mapping[str, Fields] = data.streams.get("collectors", {}).get(LOCAL, {})
    found = {name: scraped[name] for name in sorted(scraped.keys() & set(data.trial.names("backend")))}
    known = len(found) >= FEWEST_ENDPOINTS and all(ACCEPTED in fields for fields in found.values())
    return found if known else {}


def first_endpoint_share(data: TrialData) -> float | None:
    """Return the share of the accepted spans that went to an endpoint with a fault, in the time of that fault.

    Without a fault it is that of the first endpoint in the window. An endpoint that does not answer counts what it
    accepted at its next answer, spread over the time since its last one.
    """
    endpoints = accepting(data)
    if not endpoints:
        return None
    name, start_ns, end_ns = next(iter(endpoints)), data.trial.window_start_ns, data.trial.window_end_ns
    for injection in data.injections:
        if injection.injected and injection.lifted and injection.fault["target"] in endpoints:
            name, start_ns, end_ns = injection.fault["target"], injection.injected.end_ns, injection.lifted.begin_ns
    accepted = {one: fields[ACCEPTED].continued().increase(start_ns, end_ns) for one, fields in endpoints.items()}
    if not sum(accepted.values()):
        raise NotDerivableError("no endpoint accepted a span")
    return accepted[name] / sum(accepted.values())


def spans_dropped_fraction(data: TrialData) -> float | None:
    """Return the share of the ended spans that tracers dropped, or gave up; None where no tracer counts them."""
    ledgers = [ledger for node in data.trial.names("service") if (ledger := counted(data, node))]
    ended = sum(ledger["ended"] for ledger in ledgers)
    return sum(ledger[fate] for ledger in ledgers for fate in DROPPED) / ended if ended else None


METRICS = (
    Metric(
        "first_endpoint_share",
        "Spans that went to the first endpoint, while it has a fault",
        "fraction",
        compute=first_endpoint_share,
    ),
    Metric("spans_dropped_fraction", "Spans that tracers dropped", "fraction", compute=spans_dropped_fraction),
)
