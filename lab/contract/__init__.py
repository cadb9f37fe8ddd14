"""The interface of what is measured. It imports only models of `spec` and `record`."""

from lab.contract.declaration import Declaration, Needs
from lab.contract.deployment import Deployment, Endpoint, Measuring
from lab.contract.judgement import Check, Judgement, Measure, Metric, PairedMetric, Values
from lab.contract.target import Target, Targets

__all__ = [
    "Check",
    "Declaration",
    "Deployment",
    "Endpoint",
    "Judgement",
    "Measure",
    "Measuring",
    "Metric",
    "Needs",
    "PairedMetric",
    "Target",
    "Targets",
    "Values",
]
