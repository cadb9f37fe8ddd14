"""Whether a trial counts: each check yields what is wrong with its records, or nothing.

A rejected trial is kept with its reasons and repeated. The checks look at how the trial was run, never at its
result. Otherwise rejecting would bias the estimates.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy

from lab.analysis.metrics.alternating import machine_busy
from lab.analysis.metrics.telemetry import spans_lost_fraction
from lab.analysis.metrics.window import cpu_cores, known, window_requests
from lab.contract import Check, Judgement
from lab.fault.verified import unverified
from lab.record import (
    NO_SIDECAR,
    SECOND_NS,
    WITHOUT_PATTERNS,
    NotDerivableError,
    Requests,
    Series,
    TrialData,
    TrialRecord,
    ended_on_purpose,
    read_trial,
    read_trial_record,
    streams_in,
    write_json_atomic,
)

HOST_BUSY = ("cpu_user_ns", "cpu_nice_ns", "cpu_system_ns", "cpu_irq_ns", "cpu_softirq_ns")

# The limits of a valid trial.

# A tenth of the shortest think time of the studies: later starts would make it another load.
START_DELAY_P99_MS = 100.0
# A generator in one process cannot use more than one core; near it, its own queueing is what is measured.
GENERATOR_CORES = 0.9
# CPU time that the hypervisor took away. 5 % is the size of the effects that the lab measures.
STEAL_FRACTION = 0.05
# Share of the host's CPUs used by anything but the lab's containers. The engine and interrupts belong to no
# container and use up to a tenth of a small machine.
OTHER_LOAD_FRACTION = 0.15
# The observer may miss one tick on a busy machine. Two in a row mean that it got no CPU either.
GAP_INTERVALS = 3.0
# With fewer, a 95th percentile says little, and one request at an edge of the window changes results by over 3 %.
FEWEST_REQUESTS = 30
# Last third of the window against the first. In 1,000 simulated closed loops of 15 s with 6 to 24 users, the
# requests of two thirds differ by at most 12 %. So a fall by more than 20 % is a stall,
THROUGHPUT_FALL = 0.20
# unless it is this small: with few users the edges of the thirds move that many requests.
THROUGHPUT_FALL_REQUESTS = 3
# Something grows: a leak, a queue, another program.
CPU_RISE = 0.35
# A JVM compiles for a minute and more, with less and less CPU per request (measured on 2 cores, 10 s after the
# first request: by 40 % within 15 s). Every level has that tail. A larger fall is still the warm-up.
WARM_UP_TAIL = 0.60
# Of systems that alternate, which wait for what is under way. One span in a thousand costs less than is measured.
SPANS_LOST_FRACTION = 0.001
# Of systems that alternate: answers in the turn of another system.
LATE_FRACTION = 0.01
# Of systems that run at once. On a busier machine requests wait for CPUs, and ratios become those of throughput.
MACHINE_FRACTION = 0.7
# If a count of drawn errors is less likely than this, on either side, it has another cause.
ERROR_CHANCE = 1e-6


def judge(folder: Path, record: TrialRecord, judgement: Judgement) -> TrialData:
    """Write `trial.json` with the folder's streams and the verdict; return everything that the trial left.

    Raises `UserError` where a record is broken.
    """
    record = record.model_copy(update={"streams": streams_in(folder)})
    # Written without a verdict first: a broken record leaves a trial that is rejected, not one without a record.
    write_json_atomic(folder / "trial.json", record.json_record())
    data = read_trial(folder)
    found = reasons(data, judgement.checks)
    record = record.model_copy(update={"valid": not found, "reasons": found})
    write_json_atomic(folder / "trial.json", record.json_record())
    return TrialData(record, data.streams)


def reject(folder: Path, reason: str) -> Sequence[str]:
    """Reject a trial that was valid by itself; return why."""
    record = read_trial_record(folder).model_copy(update={"valid": False, "reasons": [reason]})
    write_json_atomic(folder / "trial.json", record.json_record())
    return record.reasons


def reasons(data: TrialData, stages: Sequence[Sequence[Check]]) -> list[str]:
    """Return why the trial is rejected, a sentence each; nothing for a valid one.

    A stage's checks run only if those before it found nothing: they compute with records that must be complete.
    """
    for stage in stages:
        if found := [reason for check in stage for reason in check(data)]:
            return found
    return []


def requests_present(data: TrialData) -> Iterator[str]:
    """Reject trials without a request."""
    if not data.has("requests") or len(data.requests) == 0:
        yield "the load generator finished no request: see its log"


def records_complete(data: TrialData) -> Iterator[str]:
    """Reject records whose writer was killed."""
    if data.counters.truncated:
        yield "the observer was killed: its last record is incomplete"
    if data.has("requests") and data.requests.truncated:
        yield "the load generator was killed: its last record is incomplete"


def containers_present(data: TrialData) -> Iterator[str]:
    """Reject containers that restarted, ran out of memory, failed, or went away before the window's end."""
    trial, meant = data.trial, ended_on_purpose(data.injections)
    for name, container in trial.containers.items():
        if container.restarts:
            yield f"container {name} was restarted (restarts: {container.restarts})"
        if container.oom_killed:
            yield f"container {name} ran out of memory and was killed"
        elif container.exit_code:
            yield f"container {name} ended with exit code {container.exit_code}"
    for event in data.counters.events:
        verb = {"gone": "was gone", "restarted": "restarted"}.get(event.event)
        if verb and event.name not in meant and trial.load_start_ns <= event.t_ns < trial.window_end_ns:
            after_s = (event.t_ns - trial.load_start_ns) / SECOND_NS
            yield f"container {event.name} {verb} {after_s:.1f} s after the load's start"


def observed_throughout(data: TrialData) -> Iterator[str]:
    """Reject windows that the observer did not see completely."""
    trial = data.trial
    containers_by_fault: defaultdict[str, list[str]] = defaultdict(list)
    longest_ns = GAP_INTERVALS * data.counters.interval_ns
    meant = ended_on_purpose(data.injections)
    for name in (name for name in trial.containers if name not in meant):
        cpu = data.counters.containers.get(name, {}).get("cpu_usage_ns")
        if fault := _unseen(cpu, trial, longest_ns):
            containers_by_fault[fault].append(name)
    for fault, names in containers_by_fault.items():
        yield f"the observer's record of {', '.join(names)}: {fault}"


def _unseen(cpu: Series | None, trial: TrialRecord, longest_ns: float) -> str | None:
    """Say what of the window the samples miss."""
    if cpu is None:
        return "there is none"
    try:
        cpu.increase(trial.window_start_ns, trial.window_end_ns)
    except NotDerivableError as error:
        return str(error)
    in_window = (cpu.t_ns[1:] > trial.window_start_ns) & (cpu.t_ns[:-1] < trial.window_end_ns)
    gap_ns = np.diff(cpu.t_ns)[in_window].max()
    seen = f"no sample for {gap_ns / SECOND_NS:.1f} s (limit {longest_ns / SECOND_NS:.1f} s)"
    return seen if gap_ns > longest_ns else None


def load_held(data: TrialData) -> Iterator[str]:
    """Reject trials whose generator did not send the load as planned."""
    requests = window_requests(data)
    if len(requests) < FEWEST_REQUESTS:
        yield f"{len(requests)} requests ended in the window (at least {FEWEST_REQUESTS} are needed)"
    elif (delay_ms := np.percentile(requests.start_ns - requests.intended_ns, 99) / 1e6) > START_DELAY_P99_MS:
        yield (
            f"the generator could not hold the load: 1 % of the requests started over {delay_ms:.0f} ms late "
            f"(limit {START_DELAY_P99_MS:.0f} ms)"
        )


def generator_had_cpu(data: TrialData) -> Iterator[str]:
    """Reject trials whose generator was saturated."""
    for name in data.trial.names("generator"):
        if (cores := cpu_cores(data, [name])) > GENERATOR_CORES:
            yield (
                f"the generator {name} used {_percent(cores)} of a core (limit {_percent(GENERATOR_CORES)}): "
                "generator saturated"
            )


def answers_right(data: TrialData) -> Iterator[str]:
    """Reject unexplained errors, and missing errors where some were drawn.

    With faults or resilience patterns the share of failed requests is what the trial measures.
    """
    requests = _judged(data)
    failed = requests.status[requests.status != 200]
    if data.injections or data.trial.settings.get("sidecar", NO_SIDECAR) not in WITHOUT_PATTERNS:
        return
    expected, count = data.trial.expected_error_fraction, len(requests)
    chances = ERROR_CHANCE, 1 - ERROR_CHANCE
    fewest, most = (float(scipy.stats.binom.ppf(chance, count, expected)) for chance in chances)
    if len(failed) > most:
        codes = ", ".join(str(code) for code in np.unique(failed))
        planned = f"; at most {most:.0f} are explained" if expected else ""
        yield f"{len(failed)} of {count} requests failed (status {codes}; 0: no answer){planned}"
    elif len(failed) < fewest:
        yield f"{len(failed)} of {count} requests failed, at least {fewest:.0f} should have: errors were not drawn"


def host_left_alone(data: TrialData) -> Iterator[str]:
    """Reject windows in which another virtual machine or another program used the CPUs."""
    trial, host = data.trial, data.counters.host
    try:
        busy_ns, steal_ns = (
            sum(host[name].increase(trial.window_start_ns, trial.window_end_ns) for name in names)
            for names in (HOST_BUSY, ("cpu_steal_ns",))
        )
    except KeyError:
        yield "the host's CPU time was not recorded"
        return
    except NotDerivableError as error:
        yield f"the host's CPU time: {error}"
        return
    window_ns = trial.window_end_ns - trial.window_start_ns
    whole_ns = window_ns * int(host["cpus"].values[-1])
    lab_cores = cpu_cores(data, trial.containers) + trial.cores_side_by_side
    steal, other = steal_ns / whole_ns, (busy_ns - lab_cores * window_ns) / whole_ns
    if steal > STEAL_FRACTION:
        yield (f"the host stole {_percent(steal)} of its CPUs' time in the window (limit {_percent(STEAL_FRACTION)})")
    if other > OTHER_LOAD_FRACTION:
        yield (
            f"programs outside the lab used {_percent(other)} of the host's CPUs in the window "
            f"(limit {_percent(OTHER_LOAD_FRACTION)})"
        )


def window_steady(data: TrialData) -> Iterator[str]:
    """Reject windows whose last third differs from the first: a stall, growth, or a warm-up that continues.

    A window with faults is not steady by design. Systems that alternate have the same requests in each round.
    """
    if data.injections or data.trial.slices:
        return
    trial = data.trial
    edges = np.linspace(trial.window_start_ns, trial.window_end_ns, 4).astype(np.int64).tolist()
    counts, costs = [], []
    for start_ns, end_ns in ((edges[0], edges[1]), (edges[2], edges[3])):
        count = data.requests.served_in(start_ns, end_ns)
        if count == 0:
            yield "not steady: a third of the window has no request"
            return
        series = (data.counters.containers[name]["cpu_usage_ns"] for name in trial.names("service"))
        counts.append(count)
        costs.append(sum(one.increase(start_ns, end_ns) for one in series) / count)
    throughput, cpu = counts[1] / counts[0] - 1, costs[1] / costs[0] - 1
    fewer = throughput < -THROUGHPUT_FALL and counts[0] - counts[1] > THROUGHPUT_FALL_REQUESTS
    for changed, what, by, limit in (
        (fewer, "not steady: requests per second fell", -throughput, THROUGHPUT_FALL),
        (cpu > CPU_RISE, "not steady: CPU per request rose", cpu, CPU_RISE),
        (cpu < -WARM_UP_TAIL, "still warming up: CPU per request fell", -cpu, WARM_UP_TAIL),
    ):
        if changed:
            yield f"{what} by {_percent(by)} from the window's first third to its last (limit {_percent(limit)})"


def faults_verified(data: TrialData) -> Iterator[str]:
    """Reject trials whose declared faults do not show in the counters."""
    yield from unverified(data, data.injections)


def spans_as_predicted(data: TrialData) -> Iterator[str]:
    """Reject traced trials whose trace differs from the topology's prediction: they did other work."""
    if data.trial.trace_difference is not None:
        yield f"the trace ({data.trial.spans_in_trace} spans) is not as predicted: {data.trial.trace_difference}"


def spans_delivered(data: TrialData) -> Iterator[str]:
    """Reject systems that alternate and whose spans did not all reach the backend: their cost lacks a part."""
    lost = spans_lost_fraction(data) if data.trial.slices else None
    if lost is not None and lost > SPANS_LOST_FRACTION:
        yield f"{_percent(lost)} of the spans did not reach the backend (limit {_percent(SPANS_LOST_FRACTION)})"


def turns_kept(data: TrialData) -> Iterator[str]:
    """Reject systems that still worked for their own slices when the gaps after these had ended."""
    slices = data.trial.slices
    if not slices:
        return
    ends_ns = np.array([turn.next_ns for turn in slices])
    requests = _judged(data)
    own = np.searchsorted([turn.start_ns for turn in slices], requests.intended_ns, side="right") - 1
    late = float(np.mean(requests.end_ns > ends_ns[own]))
    if late > LATE_FRACTION:
        yield (
            f"{_percent(late)} of the requests were answered after the gap that follows their turn "
            f"(limit {_percent(LATE_FRACTION)}): the machine is too slow for this rate"
        )


def machine_had_room(data: TrialData) -> Iterator[str]:
    """Reject systems that ran at once on a saturated machine."""
    busy = known(machine_busy, data)
    if busy is not None and busy > MACHINE_FRACTION:
        yield (f"the lab's containers used {_percent(busy)} of the host's CPUs (limit {_percent(MACHINE_FRACTION)})")


def _judged(data: TrialData) -> Requests:
    """Return the window's requests; of slices all, also those that ended after the window, or never."""
    return data.requests.started_since(data.trial.window_start_ns) if data.trial.slices else window_requests(data)


def _percent(fraction: float) -> str:
    return f"{round(100 * fraction, 1):g} %"
