"""The report's words: honest sentences, escaped names, and the whole page against a golden one."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup
from rich.console import Console

from lab.analysis.stats.compare import Comparison
from lab.analysis.stats.intervals import Interval
from lab.analysis.views import Climb, Crossed, Crossing, Ladder, Measure, Step
from lab.record.summary import Summary, TrialSummary
from lab.record.trial import TrialRecord
from lab.report import findings
from lab.report.answers import answers
from lab.report.build import Report, render, sections
from lab.report.compared import Compared
from lab.report.drawings import Drawings, Titled, Trace, order_cells
from lab.report.numbers import MINUS, TIMES
from lab.report.terminal import print_summary
from lab.report.view import page
from lab.target.mesh.declaration import SERVICES

GOLDEN = Path(__file__).parents[1] / "expected" / "report.html"
CPU = "cpu_per_request_services_ms"
EXPORT = "bytes_per_request_telemetry"


def estimate(level: str, **values: Any) -> dict[str, Any]:
    return {"metric": CPU, "level": level, "baseline": "baseline", "mean": 40.0, "n": 3} | values


BASELINE = estimate("baseline", mean=41.0, mean_low=39.0, mean_high=43.0)
PLACEBO = estimate(
    "placebo", ratio=1.01, ratio_low=0.98, ratio_high=1.03, noise_floor=0.03, finding="same within margin"
)
TRACED = estimate(
    "<b>&", mean=60.0, mean_low=58.0, mean_high=62.0, difference=19.0, difference_low=17.0, difference_high=21.0,
    ratio=1.46, ratio_low=1.4, ratio_high=1.52, noise_floor=0.03, finding="higher",
)  # fmt: skip
EXPORTED = estimate("<b>&", metric=EXPORT, mean=9000.0, difference=9000.0, finding="higher")


def summary(*estimates: dict[str, Any], blocks: int = 3, rejected: int = 0) -> Summary:
    metrics = {
        CPU: {"title": "CPU per request, services", "unit": "ms", "better": "lower"},
        EXPORT: {"title": "Bytes per request, telemetry", "unit": "B", "better": "lower"},
        "requests_per_s": {"title": "Requests", "unit": "1/s", "better": "higher"},
    }
    trials = [
        {"trial": f"{block}", "level": "baseline", "block": block, "valid": True, "reasons": [], "values": {}}
        for block in range(blocks)
    ]
    levels = {
        name: {"settings": {}, "trials": 0 if rejected and name == "<b>&" else blocks, "rejected": rejected}
        for name in ("baseline", "placebo", "<b>&")
    }
    return Summary.model_validate(
        {
            "format": "tollbooth.summary", "version": 2, "experiment": "quick", "title": "What does <tracing> cost?",
            "baseline": "baseline", "placebo": "placebo", "compared_with": ["baseline"],
            "headline": SERVICES.model_dump(), "confidence": 0.95, "equivalence_margin": 0.05,
            "metrics": metrics, "levels": levels, "estimates": estimates, "trials": trials,
        }
    )  # fmt: skip


def trial(number: int, level: str, **values: Any) -> TrialRecord:
    record = {
        "number": number, "attempt": 1, "block": 0, "position": number - 1, "level": level, "settings": {},
        "valid": True, "reasons": [], "window": {"load_start_ns": 0, "start_ns": 1, "end_ns": 2},
        "service_cpus": [0], "generator_cpus": [1], "containers": {}, "startup_s": {}, "phases_s": {},
    }  # fmt: skip
    return TrialRecord.model_validate(record | values)


REJECTED = trial(2, "<b>&", valid=False, reasons=["the host stole <9 %> of its CPUs' time"])
TRIALS = [trial(1, "baseline"), REJECTED, trial(2, "<b>&", attempt=2), trial(3, "placebo")]
MANIFEST = {
    "format": "tollbooth.manifest", "version": 2, "experiment": "quick", "command": "lab experiment quick",
    "spec": {"question": "What does it cost\n  per request?", "seed": 1}, "topology": {"entry": "gateway"},
    "seed": 1, "order": [{"number": 1, "block": 0, "position": 0, "level": "baseline"}],
    "started": "2026-11-21T13:00:00Z", "finished": None,
    "stopped": "every interval is within ±2 points", "git": {"revision": "0123abc", "dirty": True},
    "machine": {"cpus": 2, "governors": ["performance"], "steal": None}, "images": {"services": "sha256:00"},
    "versions": {"java": "25.0.3"}, "calibration": {"users": 24}, "durations_s": {"trials": 425.0, "total": 431.2},
}  # fmt: skip
NOTHING_DRAWN = Drawings()
ADDED = Step("<b>&", Interval(19.0, 17.0, 21.0), "higher", False, 3)
LADDER = Ladder(
    "<By hand>", "baseline", [Climb(Measure("CPU per request, services", "ms", (CPU,)), 41.0, [ADDED], ADDED)]
)
TWICE = Comparison(3, Interval(2.0, 1.9, 2.1), Interval(1.0))
CROSSING = Crossing(
    "Does <load> matter?", ("telemetry", "load"), {"size": "<s>"}, ("none", "agent"), ("full", "half"),
    [
        Crossed(
            CPU,
            {("agent", "full"): TWICE, ("agent", "half"): TWICE},
            {("agent", "half"): TWICE},
            {("agent", "half"): "higher"},
        )
    ],
)  # fmt: skip


def answer(*estimates: dict[str, Any]) -> str:
    return answers(summary(*estimates), MANIFEST)[0].text


def test_a_difference_is_said_with_its_interval_and_both_means() -> None:
    said = answer(BASELINE, PLACEBO, TRACED)
    assert (
        said
        == "CPU per request, services: higher than the baseline's, +46 % (+40 % to +52 %); 60.0 ms against 41.0 ms."
    )


def test_what_is_inconclusive_is_said_so() -> None:
    said = answer(
        BASELINE, PLACEBO, TRACED | {"finding": "inconclusive", "ratio": 1.02, "ratio_low": 0.9, "ratio_high": 1.2}
    )
    assert f"inconclusive, +2.0 % ({MINUS}10 % to +20 %)" in said


def test_a_difference_no_larger_than_the_noise_is_doubted() -> None:
    said = answer(BASELINE, PLACEBO, TRACED | {"ratio": 1.02, "ratio_low": 1.01, "ratio_high": 1.03})
    assert "within this run's noise, 3.0 %: it may be no difference at all" in said


def test_the_terminal_says_of_noise_what_the_page_says() -> None:
    doubtful = TRACED | {"ratio": 1.02, "ratio_low": 1.01, "ratio_high": 1.03}
    out = io.StringIO()
    print_summary(summary(BASELINE, PLACEBO, doubtful), Console(file=out, width=120))
    shown = page(summary(BASELINE, PLACEBO, doubtful), MANIFEST, TRIALS, Compared()).table[0].rows[-1][7].finding
    assert shown is not None
    assert shown.word == "higher, within noise"
    assert shown.tone == "neutral"
    assert shown.word in out.getvalue()


def test_a_level_without_estimates_gets_no_answer_but_a_caution() -> None:
    nothing = summary(BASELINE, PLACEBO, rejected=4)
    assert answers(nothing, MANIFEST)[0].text == "No result: no trial of it counts."
    assert findings.cautions(nothing) == ["No trial of <b>& (4 rejected) counts."]


def test_a_placebo_that_was_called_different_is_a_caution() -> None:
    wrong = PLACEBO | {"finding": "higher", "ratio_low": 1.005}
    (caution,) = findings.cautions(summary(BASELINE, wrong, TRACED))
    assert caution.startswith("The placebo differs from the baseline, although")
    # A measure that is not in the headline: of many such, some differ by chance.
    assert findings.cautions(summary(BASELINE, PLACEBO, TRACED, wrong | {"metric": "requests_per_s"})) == []


def adjusted(**step: Any) -> Summary:
    """A run at equal machine speed; `step`: of the covariate's row of the traced level."""
    row = {"metric": "cache_step_ns", "level": "<b>&", "baseline": "baseline", "mean": 23.0, "n": 3} | step
    found = summary(BASELINE, PLACEBO, TRACED, row)
    how = {"covariate": "cache_step_ns", "usual": 22.0, "exponent": 0.43, "standard_error": 0.02, "pieces": 300,
           "explained": 0.614}  # fmt: skip
    trials = [trial.model_copy(update={"values": {"cache_step_ns": 21.0 + trial.block}}) for trial in found.trials]
    return Summary.model_validate(found.model_dump() | {"adjustments": {CPU: how}, "trials": trials})


def test_times_at_equal_machine_speed_say_so() -> None:
    (said,) = findings.remarks(adjusted())
    assert "took 21.0 to 23.0 ns" in said
    assert "to the power of 0.43 ± 0.040; this explains 61 % of the variance within windows" in said
    assert findings.remarks(summary(BASELINE, PLACEBO, TRACED)) == []


def test_what_measuring_took_is_said_over_all_levels() -> None:
    used = {"observer_cpu_fraction": (0.002, 0.004), "generator_cpu_fraction": (0.005, 0.0035)}
    rows = [
        {"metric": metric, "level": level, "baseline": "baseline", "mean": mean, "n": 3}
        for metric, means in used.items()
        for level, mean in zip(("baseline", "<b>&"), means, strict=True)
    ]
    assert findings.remarks(summary(BASELINE, PLACEBO, TRACED, *rows)) == [
        "Measuring used 0.70 to 0.75 % of the services' CPU, depending on the level: the observer 0.20 to 0.40 %, "
        "the load generator 0.35 to 0.50 %."
    ]


def test_a_level_beside_which_the_machine_seemed_slower_is_a_caution() -> None:
    assert findings.cautions(adjusted(ratio=1.01, ratio_low=0.98, ratio_high=1.04, finding="same within margin")) == []
    (caution,) = findings.cautions(adjusted(ratio=1.08, ratio_low=1.06, ratio_high=1.1, finding="higher"))
    assert "<b>& (+6.0 % to +10 %)" in caution
    assert "to the power of 0.43" in caution


def test_one_block_is_a_caution() -> None:
    (caution,) = findings.cautions(summary(BASELINE, PLACEBO, TRACED, blocks=1))
    assert "At most one block" in caution


def test_the_placebo_without_a_ratio_leaves_the_noise_unknown() -> None:
    without = PLACEBO | {"ratio": None, "ratio_low": None, "ratio_high": None, "noise_floor": None}
    assert "It has no ratio, so the noise" in findings.placebo_sentence(summary(BASELINE, without, TRACED))


def test_a_placebo_that_did_not_run_leaves_the_noise_unknown() -> None:
    assert "It did not run, so the noise" in findings.placebo_sentence(only("baseline", "<b>&"))


def test_a_baseline_alone_is_not_called_compared_with_itself() -> None:
    assert page(only("baseline"), MANIFEST, TRIALS, Compared()).compared == "baseline with nothing, as it ran alone"


def only(*levels: str) -> Summary:
    found = summary(BASELINE, TRACED)
    return found.model_copy(update={"levels": {name: found.levels[name] for name in levels}})


def test_noise_too_small_to_show_is_rounded_up() -> None:
    placebo = PLACEBO | {"ratio": 1.0001, "ratio_low": 0.9999, "ratio_high": 1.0002, "noise_floor": 0.0002}
    assert "Differences below 0.10 % may be noise." in findings.placebo_sentence(summary(BASELINE, placebo))


@pytest.mark.parametrize(
    ("levels", "compared"),
    [
        ([], "baseline with itself, under another name"),
        (["a"], "a against baseline"),
        (["a", "b", "c"], "a, b and c against baseline"),
        ([f"level-{number}" for number in range(13)], "13 levels against baseline"),
    ],
)
def test_what_is_compared_is_named_unless_it_is_much(levels: list[str], compared: str) -> None:
    found = summary(BASELINE, PLACEBO)
    kept = {name: found.levels[name] for name in ("baseline", "placebo")}
    found = found.model_copy(update={"levels": kept | dict.fromkeys(levels, found.levels["baseline"])})
    assert page(found, MANIFEST, TRIALS, Compared()).compared == compared


def test_the_question_shows_names_as_code() -> None:
    manifest = MANIFEST | {"spec": {"question": "Is `a<b` less than `c`?"}}
    html = render(Report(page(summary(BASELINE, PLACEBO, TRACED), manifest, TRIALS, Compared()), NOTHING_DRAWN))
    assert '<p class="question">Is <code>a&lt;b</code> less than <code>c</code>?</p>' in html


def test_the_order_says_what_became_of_each_planned_trial() -> None:
    planned = {"order": [{"number": 4, "block": 1, "position": 0, "level": "baseline"}, ["not", "an", "entry"]]}
    cells = order_cells(planned, [trial(1, "baseline"), REJECTED])
    assert [(cell.number, cell.outcome, cell.remark) for cell in cells] == [
        (1, "valid", ""),
        (2, "rejected", f"rejected {TIMES}1"),
        (4, "not run", "not run"),
    ]


def test_trials_of_a_sample_that_has_no_records_of_them_are_not_called_missing() -> None:
    order = [{"number": 4, "block": 1, "position": 0, "level": "baseline"}]
    row = {"trial": "004-baseline", "level": "baseline", "block": 1, "valid": True, "reasons": [], "values": {}}
    cells = order_cells({"order": order}, [trial(1, "baseline")], [TrialSummary.model_validate(row)])
    assert [(cell.number, cell.outcome) for cell in cells] == [(1, "valid"), (4, "valid")]


def test_rejected_attempts_without_records_are_not_called_missing() -> None:
    order = [{"number": number, "block": 1, "position": 0, "level": "baseline"} for number in (4, 5)]
    attempts = [("004-baseline", False), ("005-baseline", False), ("005-baseline-try2", True)]
    row = {"level": "baseline", "block": 1, "reasons": ["the host stole 6 %"], "values": {}}
    found = [TrialSummary.model_validate({**row, "trial": name, "valid": valid}) for name, valid in attempts]
    cells = order_cells({"order": order}, [], found)
    assert [(cell.number, cell.outcome, cell.remark) for cell in cells] == [
        (4, "rejected", f"rejected {TIMES}1"),
        (5, "valid", f"rejected {TIMES}1"),
    ]


def test_blocks_that_an_early_end_made_needless_are_not_called_missing() -> None:
    order = [{"number": 4 + block, "block": block, "position": 3, "level": "baseline"} for block in (0, 1)]
    cells = order_cells({"order": order, "stopped": "every interval is within ±2 points"}, [trial(1, "baseline")])
    assert [(cell.number, cell.block, cell.outcome) for cell in cells] == [(1, 0, "valid"), (4, 0, "not run")]


@pytest.mark.parametrize("manifest", [{}, {"git": None, "machine": "?", "durations_s": {"total": None}, "spec": []}])
def test_a_manifest_without_its_parts_does_not_break_the_page(manifest: dict[str, Any]) -> None:
    html = render(Report(page(summary(BASELINE, PLACEBO, TRACED), manifest, TRIALS, Compared()), NOTHING_DRAWN))
    assert "unknown" in html
    assert "No level of this run made a trace, or this copy of the run has no traces." in html
    assert not {"ladders", "sweeps", "interactions", "claims"} & set(re.findall(r'<section id="(\w+)">', html))


@pytest.mark.parametrize(
    ("trials", "why"), [(3, "no level has a ratio to baseline"), (0, "no trial of baseline counts")]
)
def test_without_ratios_the_intervals_say_why(trials: int, why: str) -> None:
    found = summary(BASELINE, TRACED)
    levels = {**found.levels, "baseline": found.levels["baseline"].model_copy(update={"trials": trials})}
    shown = page(found.model_copy(update={"levels": levels}), MANIFEST, TRIALS, Compared())
    assert f"Nothing to draw, because {why}." in sections(Report(shown, NOTHING_DRAWN))["intervals"]


def test_the_page_is_the_golden_one(tmp_path: Path) -> None:
    """Markup and words, without the style and the figures. Where a change is meant, copy the actual page over."""
    drawn = Markup('<svg role="img"></svg>')
    drawings = Drawings(
        forest=drawn,
        waterfall=drawn,
        sweeps=[Titled("<Batches>", drawn), Titled("Nothing", None)],
        crossings=[Titled("Does <load> matter?", drawn)],
        latency=drawn,
        cpu=drawn,
        memory=drawn,
        jvm=drawn,
        traces=[
            Trace("<b>&", "123 spans", drawn, ["placebo", "baseline"], second_start=False),
            Trace("agent", "123 spans", drawn, [], second_start=True),
        ],
        order=drawn,
    )
    compared = Compared([LADDER], [], [CROSSING])
    found = summary(BASELINE, PLACEBO, TRACED, EXPORTED)
    one = TrialSummary(trial="002", level="<b>&", block=0, valid=False, reasons=REJECTED.reasons, values={})
    found = found.model_copy(update={"trials": [*found.trials, one]})
    html = render(Report(page(found, MANIFEST, TRIALS, compared), drawings))
    scrubbed = re.sub(r"<style>.*</style>", "<style></style>", html, flags=re.DOTALL)
    actual = tmp_path / "report.html"
    actual.write_text(scrubbed, encoding="utf-8")
    assert scrubbed == GOLDEN.read_text(encoding="utf-8"), f"compare {GOLDEN} with {actual}"
