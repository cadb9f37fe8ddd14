"""The experiment of the tests on real containers, and what the lab has on the engine."""

import subprocess

TINY = """
format: tollbooth.experiment
version: 2
title: Does the whole road work?
question: Every level once per block, on real containers.
target: {kind: mesh, topology: duo}
load: {generator: locust, schedule: {kind: closed-loop, users: 8, think_time_s: [1.0, 1.1]}}
environment: {JAVA_OPTS: "-XX:TieredStopAtLevel=1"}
factors:
  telemetry:
    baseline: {telemetry: baseline}
    otel-manual: {telemetry: otel-manual, backend: sink}
baseline: baseline
protocol: {warm_up_requests: 60, window_s: 16, repetitions: 1, retries: 1, seed: 3}
observer: {rate_hz: 10}
"""


def containers() -> list[str]:
    """What the lab has on the engine, by the names of its Compose projects."""
    label = '{{.Label "com.docker.compose.project"}}'
    listed = subprocess.run(["docker", "ps", "--all", "--format", label], capture_output=True, check=True)
    return [project for project in listed.stdout.decode().split() if project.startswith("tollbooth")]
