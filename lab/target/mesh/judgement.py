"""How a mesh's trials are judged: its checks and metrics. Pure."""

from collections.abc import Mapping

from lab.analysis import checks, ledger
from lab.analysis.metrics import (
    alternating,
    backends,
    burn,
    endpoints,
    jvm,
    memory,
    requests,
    resources,
    sidecars,
    speed,
    telemetry,
    traffic,
)
from lab.contract import Judgement, Metric

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for module in (
        resources,
        memory,
        backends,
        alternating,
        burn,
        requests,
        sidecars,
        traffic,
        jvm,
        telemetry,
        endpoints,
        speed,
    )
    for metric in module.METRICS
}


JUDGEMENT = Judgement(
    checks=(
        (checks.requests_present,),
        (
            checks.records_complete,
            checks.containers_present,
            checks.observed_throughout,
            checks.load_held,
            checks.answers_right,
            checks.spans_as_predicted,
            checks.faults_verified,
            checks.spans_delivered,
            ledger.spans_accounted_for,
            checks.turns_kept,
        ),
        (checks.generator_had_cpu, checks.host_left_alone, checks.machine_had_room, checks.window_steady),
    ),
    metrics=METRICS,
    paired=telemetry.PAIRED,
)
