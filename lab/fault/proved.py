"""Whether a trial's records prove its faults: a trial whose faults are not proved is refused."""

from collections.abc import Iterator, Sequence

from lab.fault.fault import DeclaredFault
from lab.fault.kinds import parse_fault
from lab.record.data import TrialData
from lab.record.faults import Course, Injection

# A command of the engine's takes part of a second, and the window is counted from the first request.
EDGE_NS = 1_000_000_000


def unproved(data: TrialData, injections: Sequence[Injection]) -> Iterator[str]:
    """Yield why the trial's faults do not count, a sentence each; nothing where every declared one is proved.

    The level's settings say how many were declared (`faults`).
    """
    declared = len(data.trial.settings.get("faults") or ())
    if len(injections) != declared:
        yield f"{len(injections)} of {declared} declared faults are on record"
    for injection in injections:
        fault = parse_fault(injection.fault)
        if doubt := _doubt(data, fault, injection):
            yield f"fault {fault.what}: {doubt}"


def _doubt(data: TrialData, fault: DeclaredFault, injection: Injection) -> str | None:
    if injection.refused is not None:
        return f"refused: {injection.refused}"
    if injection.injected is None or injection.lifted is None:
        return "it was not injected and lifted"
    course = Course(injection.injected, injection.lifted, injection.clock_error_ns)
    if course.injected.end_ns < data.trial.window_start_ns - EDGE_NS:
        return "it began before the window"
    if course.lifted.begin_ns > data.trial.window_end_ns + EDGE_NS:
        return "the window ended before it did"
    doubt = next(fault.doubts(data, course), None)
    return doubt and f"not proved: {doubt}"
