"""Whether a trial's records verify its faults: a trial with an unverified fault is rejected."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from lab.fault.fault import DeclaredFault
from lab.fault.kinds import parse_fault
from lab.record import SECOND_NS, Course, Injection, TrialData

# A command of the engine takes part of a second, and the window begins with the first request.
EDGE_NS = 1_000_000_000


def unverified(
    data: TrialData,
    injections: Sequence[Injection],
    parse: Callable[[Mapping[str, object]], DeclaredFault] = parse_fault,
) -> Iterator[str]:
    """Yield why the trial's faults are not verified, one sentence each; nothing if every declared one is.

    The level's settings say how many were declared (`faults`). `parse` returns one of the target's kinds.
    """
    declared = len(data.trial.settings.get("faults") or ())
    if len(injections) != declared:
        yield f"{len(injections)} of {declared} declared faults are on record"
    for injection in injections:
        fault = parse(injection.fault)
        if doubt := _doubt(data, fault, injection):
            yield f"fault {fault.what}: {doubt}"


def _doubt(data: TrialData, fault: DeclaredFault, injection: Injection) -> str | None:
    if injection.rejected is not None:
        return f"not possible: {injection.rejected}"
    if injection.injected is None or injection.lifted is None:
        return "it was not injected and lifted"
    course = Course(injection.injected, injection.lifted, injection.clock_error_ns)
    if course.injected.end_ns < data.trial.window_start_ns - EDGE_NS:
        return "it began before the window"
    if course.lifted.begin_ns > data.trial.window_end_ns + EDGE_NS:
        return "the window ended before it did"
    lasted_s = (course.lifted.begin_ns - course.injected.begin_ns) / SECOND_NS
    if lasted_s < fault.length_s - EDGE_NS / SECOND_NS:
        return f"it was lifted after {lasted_s:.1f} of {fault.length_s:g} s: the load had ended"
    doubt = next(fault.doubts(data, course), None)
    return doubt and f"not verified: {doubt}"
