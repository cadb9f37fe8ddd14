"""`lab check alternating`: a run that finds what is known passes, and each row can fail."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from lab.analysis.analyse import summarise
from lab.analysis.checklist import Row
from lab.analysis.known_answer import COST, IDLE_CORES, WITHOUT_IDLE, known_answer
from lab.errors import UserError
from lab.record import Summary, TrialSummary, write_json_atomic
from lab.spec import PLACEBO, load_experiment
from tests.forked import lab
from tests.labs import LAB, MESH, ROOT

EXPERIMENT = load_experiment(ROOT / "experiments" / "known-answer.yaml", LAB.grammar)
SEED = EXPERIMENT.protocol.seed
BASE_MS, AGENT_MS, BURN_MS, IDLE_CORES_OF_ALL = 9.6, 13.6, 2.0, 0.002
BURNS_APART = "(b) burn / (a) burn"


@dataclass(frozen=True)
class Level:
    """The truth of one level. `noise`: the standard deviation of a set's value, of its logarithm."""

    cost_ms: float
    without_idle_ms: float
    idle_cores: float = IDLE_CORES_OF_ALL
    noise: float = 0.00075
    burned_ms: float | None = None
    burned_cores: float | None = None

    def values(self, draw: np.random.Generator, machine: float) -> Mapping[str, float]:
        """What a set finds of it on a machine that is so many times slower than usual."""
        noisy = machine * draw.lognormal(sigma=self.noise)
        values = {
            COST: self.cost_ms * noisy,
            WITHOUT_IDLE: self.without_idle_ms * noisy,
            IDLE_CORES: self.idle_cores + draw.normal(scale=0.0001),
            "burned_per_request_ms": self.burned_ms,
            "burned_idle_cores": self.burned_cores,
        }
        return {name: value for name, value in values.items() if value is not None}


BASE = Level(BASE_MS, BASE_MS - 0.2)
BURNS = Level(BASE_MS + BURN_MS, BASE_MS + BURN_MS - 0.2, burned_ms=2.0004, burned_cores=0.0)
AGENT = Level(AGENT_MS, AGENT_MS - 0.2)
TRUTH = {
    "baseline": BASE,
    PLACEBO: BASE,
    "burn-in-request": BURNS,
    "burn-later": BURNS,
    # Its CPU per request has the idle CPU of all the time between its slices.
    "burn-idle": Level(BASE_MS + 1.6, BASE_MS - 0.2, 0.012, burned_ms=0.0, burned_cores=0.01),
    "otel-agent": AGENT,
    "otel-agent-again": AGENT,
}


def summary(truth: Mapping[str, Level] = TRUTH, sets: int = 8, rejected: int = 0) -> Summary:
    """A run of known-answer with this truth."""
    draw = np.random.default_rng(3)
    trials = []
    for block in range(sets + rejected):
        # The same in all levels, so that a burn of milliseconds stays one.
        machine = float(draw.lognormal(sigma=0.0025))
        trials += [
            TrialSummary(
                trial=f"{block:03d}-{name}",
                level=name,
                block=block,
                position=place,
                valid=block < sets,
                reasons=[] if block < sets else ["the machine was busy"],
                values=level.values(draw, machine) if block < sets else {},
            )
            for place, (name, level) in enumerate(truth.items())
        ]
    return summarise(EXPERIMENT, MESH, trials)


def test_it_is_the_method_of_quick_that_is_tested() -> None:
    quick = load_experiment(ROOT / "experiments" / "quick.yaml", LAB.grammar)
    assert (EXPERIMENT.target, EXPERIMENT.environment) == (quick.target, quick.environment)
    assert EXPERIMENT.protocol.warm_up_requests == quick.protocol.warm_up_requests
    own, other = (one.load.model_dump() for one in (EXPERIMENT, quick))
    # More systems need more time for the same number of rounds.
    assert {**own["schedule"], "measure_s": None} == {**other["schedule"], "measure_s": None}


def failed(found: Summary) -> set[str]:
    return {row.name for row in known_answer(found, SEED) if not row.passed}


def row(found: Summary, name: str) -> Row:
    (only,) = [row for row in known_answer(found, SEED) if row.name == name]
    return only


def test_a_run_that_finds_what_is_known_passes() -> None:
    rows = known_answer(summary(), SEED)
    assert [row.name for row in rows if not row.passed] == []
    assert len(rows) == 16
    assert row(summary(), "(a) in the request: found").bound == "contains 2.00 ms"
    assert row(summary(), "(c) while idle: found").bound == "contains 0.0100 cores"


def with_level(name: str, level: Level) -> Mapping[str, Level]:
    return {**TRUTH, name: level}


@pytest.mark.parametrize(
    ("truth", "names"),
    [
        (with_level(PLACEBO, replace(BASE, cost_ms=BASE_MS * 1.0015)), {"placebo / baseline"}),
        (with_level("burn-in-request", replace(BURNS, burned_ms=2.04)), {"(a) in the request: burned"}),
        (with_level("burn-in-request", replace(BURNS, burned_ms=None)), {"(a) in the request: burned"}),
        (with_level("burn-in-request", replace(BURNS, cost_ms=11.48)), {"(a) in the request: found", BURNS_APART}),
        (with_level("burn-in-request", replace(BURNS, idle_cores=0.0035)), {"(a) in the request: idle CPU"}),
        (with_level("burn-later", replace(BURNS, burned_ms=1.2)), {"(b) 2 s later: burned"}),
        (with_level("burn-later", replace(BURNS, cost_ms=11.72)), {"(b) 2 s later: found", BURNS_APART}),
        (with_level("burn-later", replace(BURNS, cost_ms=10.4)), {"(b) 2 s later: found", "(b) / (a)", BURNS_APART}),
        (with_level("burn-later", replace(BURNS, idle_cores=0.0005)), {"(b) 2 s later: idle CPU"}),
        (with_level("burn-idle", replace(TRUTH["burn-idle"], burned_cores=0.0102)), {"(c) while idle: burned"}),
        (with_level("burn-idle", replace(TRUTH["burn-idle"], idle_cores=0.0132)), {"(c) while idle: found"}),
        (
            with_level("burn-idle", replace(TRUTH["burn-idle"], without_idle_ms=9.76)),
            {"(c) / baseline, without idle CPU"},
        ),
        (with_level("otel-agent-again", replace(AGENT, cost_ms=14.0)), {"(d) second agent / first"}),
        (with_level("otel-agent-again", replace(AGENT, idle_cores=0.0035)), {"(d) second agent: idle CPU"}),
    ],
)
def test_each_row_can_fail(truth: Mapping[str, Level], names: set[str]) -> None:
    assert failed(summary(truth)) == names


def test_few_sets_fail() -> None:
    assert failed(summary(sets=7)) == {"sets that count"}


def test_one_set_in_ten_may_be_rejected() -> None:
    assert failed(summary(sets=9, rejected=1)) == set()
    assert failed(summary(sets=8, rejected=1)) == {"sets rejected"}


def test_an_interval_that_is_too_wide_is_inconclusive() -> None:
    noisy = {name: replace(level, noise=0.04) for name, level in TRUTH.items()}
    agents = row(summary(noisy), "(d) second agent / first")
    assert agents.verdict == "FAIL"
    assert agents.value.endswith("), inconclusive")


def test_a_single_set_has_no_interval_and_fails() -> None:
    rows = {row.name: row for row in known_answer(summary(sets=1), SEED)}
    assert not rows["(a) in the request: found"].passed
    assert "(" not in rows["(a) in the request: found"].value


def test_the_ratio_of_burns_is_that_of_what_is_above_the_baseline() -> None:
    """0.16 ms are 1.4 % of the cost, and 8 % of the burn."""
    found = summary(with_level("burn-later", replace(BURNS, cost_ms=11.76)))
    assert row(found, "(b) / (a)").passed
    assert float(row(found, BURNS_APART).value.split()[0]) == pytest.approx(2.16 / 2, abs=0.02)


def test_another_run_is_not_judged() -> None:
    found = summary()
    other = found.model_copy(update={"levels": {name: found.levels[name] for name in ("baseline", PLACEBO)}})
    with pytest.raises(UserError) as caught:
        known_answer(other, SEED)
    assert "burn-in-request, burn-later" in caught.value.message


@pytest.mark.parametrize(("sets", "code"), [(8, 0), (7, 1)])
def test_the_command_prints_the_rows_and_exits(tmp_path: Path, sets: int, code: int) -> None:
    write_json_atomic(tmp_path / "summary.json", summary(sets=sets).model_dump(mode="json"))
    spec = {"protocol": {"seed": SEED}}
    write_json_atomic(tmp_path / "manifest.json", {"format": "tollbooth.manifest", "version": 2, "spec": spec})
    done = lab("check", "alternating", str(tmp_path))
    assert done.returncode == code
    assert ("FAIL" in done.stdout) is bool(code)
    line = next(line for line in done.stdout.splitlines() if line.startswith("sets that count"))
    assert line.split() == ["sets", "that", "count", str(sets), "at", "least", "8", "FAIL" if code else "PASS"]
