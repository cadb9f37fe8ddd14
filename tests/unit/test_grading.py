"""Grading: no honest run is failed, and no edited one passes."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from lab.analysis.metrics import measures
from lab.command.paths import EXPERIMENTS
from lab.grading.consistent import CHECKS, contradictions, shared
from lab.grading.exercise import FOLDER, DrawnQuestion, Exercise, read_exercise
from lab.grading.grade import answer_rows, concluded, grade, precision_rows, records_rows, repeat_command
from lab.grading.keys import DRAWN, Key, key_of
from lab.grading.study import Study, read_study
from lab.grading.trial import StudentTrial
from lab.record.trial import BackendRecord
from lab.spec.experiment import Experiment
from lab.spec.parse import load_experiment
from tests import studies
from tests.golden import records
from tests.labs import LAB
from tests.repository import ROOT

NUMBERS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
UNATTENDED_MIN = 12
SECOND_NS = 1_000_000_000
STUDIES, TIMES = 300, 200


def wanted(exercise: Exercise) -> Experiment:
    return load_experiment(EXPERIMENTS / f"{exercise.experiment}.yaml", LAB.grammar)


@pytest.fixture(scope="module")
def quick() -> Experiment:
    return wanted(read_exercise("2"))


# --- honest runs ------------------------------------------------------------------------------------------------------
def searched(first_load_s: float | None, window_s: float) -> SimpleNamespace:
    """A trial whose window was at this time, after a search that began with a first load."""
    at_ns = round(window_s * SECOND_NS)
    loads = [] if first_load_s is None else [SimpleNamespace(start_ns=round(first_load_s * SECOND_NS))]
    window = SimpleNamespace(load_start_ns=at_ns, end_ns=at_ns + 12 * SECOND_NS)
    streams = {"search": {"search.json": SimpleNamespace(trials=loads)}}
    return SimpleNamespace(data=SimpleNamespace(trial=SimpleNamespace(window=window), streams=streams))


def test_the_loads_of_a_search_count_as_time_that_a_trial_covers() -> None:
    (covered,) = (check for check in CHECKS if check.__name__ == "_covered")
    blocks = {0: [searched(10, 200), searched(227, 321)], 1: [searched(345, 416), searched(439, 542)]}
    study: Any = SimpleNamespace(manifest={"durations_s": {"trials": 555.0}}, blocks=blocks)
    assert list(covered(study)) == []
    study.blocks = {0: [searched(None, 200), searched(None, 321)], 1: [searched(None, 416), searched(None, 542)]}
    assert list(covered(study)) == ["the run took 555 s, its trials cover 354 s"]


def test_no_resampled_study_is_wrongly_failed() -> None:
    exercise, outcomes = read_exercise("2"), Counter[str]()
    for seed in range(STUDIES):
        study = studies.resampled(exercise, random.Random(seed))
        keys = {name: key_of(name, question, study) for name, question in exercise.questions.items()}
        said = answer_rows(keys, studies.honest_answers(exercise, study))
        repeat = repeat_command(study, exercise)
        graded = concluded([], precision_rows(study.computed, exercise), said, repeat)
        assert graded.outcome != "failed", (seed, graded.reasons)
        assert graded.score == 1
        assert (graded.repeat == repeat) == (graded.outcome == "inconclusive")
        outcomes[graded.outcome] += 1
    assert outcomes["passed"] > STUDIES / 2
    assert outcomes["inconclusive"] > 0


def test_a_run_that_its_budget_ended_is_repeated_with_time_for_all_sets() -> None:
    study = studies.recorded()
    planned = study.experiment.protocol.model_copy(update={"repetitions": 8, "budget_min": 11})
    ended = studies.with_manifest(study, study.experiment.model_copy(update={"protocol": planned}))
    # Four sets took the eleven minutes.
    assert "--set repetitions=9 --set budget_min=25" in repeat_command(ended, read_exercise("2"))


@pytest.mark.parametrize("number", ["1", "2"])
def test_the_recorded_run_passes_with_what_it_says(number: str) -> None:
    exercise, study = read_exercise(number), studies.recorded()
    graded = grade(study, exercise, wanted(exercise), studies.honest_answers(exercise, study))
    assert (graded.outcome, graded.score, graded.reasons) == ("passed", 1, [])


@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_an_honest_run_of_any_length_at_any_time_agrees_with_itself(blocks: int, quick: Experiment) -> None:
    for seed in range(10):
        by_ns = random.Random(seed).randrange(-(10**17), 10**17)
        assert records_rows(studies.first_blocks(studies.recorded(), blocks, by_ns), quick) == []


@pytest.mark.parametrize("name", records.REAL)
def test_real_runs_of_other_designs_agree_with_themselves(name: str) -> None:
    with records.unpacked(name) as run:
        assert contradictions(replace(read_study(run, LAB), stored=None)) == []


@pytest.mark.parametrize("valid", [True, False])
def test_a_rejected_set_may_have_found_another_rate(valid: bool) -> None:
    (same_machine,) = (check for check in CHECKS if check.__name__ == "_same_machine")
    study = studies.recorded()
    first = [at for at, one in enumerate(study.trials) if one.data.trial.block == 0]
    other = {"requests_per_s": 2 * study.manifest["calibration"]["requests_per_s"]}
    changed = {at: studies.with_record(study.trials[at], valid=valid, found=other) for at in first}
    assert len(list(same_machine(studies.with_trials(study, changed)))) == (len(first) if valid else 0)


# --- edited ones ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("twice", [True, False])
def test_spans_that_a_tracer_sent_twice_are_no_more_than_its_requests_make(twice: bool) -> None:
    one = next(one for one in studies.recorded().trials if one.data.trial.expected_spans_per_request)
    trial, requests = one.data.trial, len(one.data.requests)
    assert trial.expected_spans_per_request
    made = round(requests * trial.expected_spans_per_request)
    backend = BackendRecord(accepted_spans=2 * made, counters={"duplicate_spans": made} if twice else {})
    data = replace(one.data, trial=trial.model_copy(update={"backend": backend}))
    found = StudentTrial(one.name, data, one.judgement, one.thinned).contradictions
    assert found == ([] if twice else [f"the backend accepted {2 * made} spans, more than {requests} requests make"])


@pytest.mark.parametrize("edit", studies.EDITS, ids=lambda edit: edit.__name__)
def test_no_edited_run_passes(edit: Callable[[Study, random.Random], Study], quick: Experiment) -> None:
    study = studies.recorded()
    assert records_rows(study, quick) == []
    missed = [seed for seed in range(TIMES) if not records_rows(edit(study, random.Random(seed)), quick)]
    assert missed == []


def test_no_edited_answer_passes() -> None:
    exercise, study = read_exercise("2"), studies.recorded()
    keys = {name: key_of(name, question, study) for name, question in exercise.questions.items()}
    honest, precise = studies.honest_answers(exercise, study), precision_rows(study.computed, exercise)
    for seed in range(TIMES):
        draw = random.Random(seed)
        name = draw.choice(list(keys))
        key = keys[name]
        assert key is not None
        graded = concluded([], precise, answer_rows(keys, {**honest, name: studies.wrong_answer(key, draw)}), "")
        assert graded.outcome == "failed"
        assert [reason.partition(":")[0] for reason in graded.reasons] == [name]


def test_a_run_of_another_experiment_is_not_graded(quick: Experiment) -> None:
    other = load_experiment(EXPERIMENTS / "sampling.yaml", LAB.grammar)
    assert [row.value for row in records_rows(studies.recorded(), other)] == ["a run of quick"]
    longer = quick.model_copy(update={"environment": {}})
    assert [row.value for row in records_rows(studies.recorded(), longer)] == ["environment.JAVA_OPTS differs"]


def test_records_that_cannot_be_computed_with_are_a_reason_not_a_crash(quick: Experiment) -> None:
    study = studies.with_manifest(studies.recorded(), images=None)
    (row,) = records_rows(study, quick)
    assert row.value.startswith("cannot be read: ")


def test_two_students_with_the_same_records_are_found_whatever_times_they_write() -> None:
    study = studies.recorded()
    copied = studies.moved(study.trials[5], 10**15)
    assert [(one.name, other.name) for one, other, _ in shared([copied], study.trials)] == [
        (study.trials[5].name, study.trials[5].name)
    ]


# --- answers ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("key", "answer", "right"),
    [
        (Key(1.36, 1.44), 1.4, True),
        (Key(1.36, 1.44), 1.355, True),
        (Key(1.36, 1.44), 1, False),
        (Key(1.36, 1.44), "1.4", False),
        (Key(1.36, 1.44), True, False),
        (Key(0.0, 0.0), 0, True),
        (Key(0.0, 0.0), 0.01, False),
        (Key(words=("same within margin",)), "Differs by less than 5 %", True),
        (Key(words=("higher",)), "lower", False),
        (Key(words=("yes", "no")), "no", True),
    ],
)
def test_which_answers_are_right(key: Key, answer: object, right: bool) -> None:
    assert key.accepts(answer) == right


def test_a_question_without_an_answer_is_wrong_unless_the_run_does_not_say() -> None:
    rows = answer_rows({"a": Key(1, 2), "b": None}, {})
    assert [(row.name, row.value, row.passed) for row in rows] == [("a", "no answer", False), ("b", "no answer", True)]


def test_keys_are_drawn_by_seed_and_data() -> None:
    exercise, study = read_exercise("1"), studies.recorded()
    drawn = {name: key_of(name, question, study) for name, question in exercise.questions.items()}
    again = {name: key_of(name, question, replace(study)) for name, question in exercise.questions.items()}
    assert drawn == again
    where = {key.where for key in drawn.values() if key and key.where}
    traced = {one.name for one in study.trials if one.data.trace}
    assert where and where <= traced
    others = {
        key.where
        for seed in range(20)
        if (key := key_of("root-ms", exercise.questions["root-ms"], _seeded(study, seed)))
    }
    assert len(others) > 2


def _seeded(study: Study, seed: int) -> Study:
    protocol = study.experiment.protocol.model_copy(update={"seed": seed})
    return replace(study, experiment=study.experiment.model_copy(update={"protocol": protocol}))


# --- exercises --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", NUMBERS)
def test_an_exercise_requests_what_its_experiment_measures(number: str) -> None:
    exercise = read_exercise(number)
    experiment = wanted(exercise)
    known = measures(LAB.target(experiment).judgement)
    levels = {level.name for level in experiment.all_levels()}
    for question in exercise.questions.values():
        if isinstance(question, DrawnQuestion):
            assert question.what in DRAWN
            continue
        assert question.metric in known
        assert {question.level, getattr(question, "to", None) or experiment.baseline} <= levels
    if exercise.precision:
        assert exercise.precision.metric in known
        assert {*exercise.precision.levels, exercise.precision.to or experiment.baseline} <= levels
    assert exercise.trials <= experiment.protocol.repetitions


@pytest.mark.parametrize("number", NUMBERS)
def test_an_exercise_needs_few_minutes_and_has_a_page(number: str) -> None:
    exercise = read_exercise(number)
    budget_min = wanted(exercise).protocol.budget_min
    assert budget_min is not None and budget_min <= UNATTENDED_MIN
    (page,) = (ROOT / "docs" / "labs").glob(f"{number}-*.md")
    text = page.read_text()
    assert f"make check LAB={number}" in text
    named = "make experiment" if exercise.experiment == "quick" else f"EXPERIMENT={exercise.experiment}"
    assert named in text
    for heading in ("## Steps", "## Questions", "## For teachers"):
        assert heading in text
    rubric = text.partition("| points |")[2]
    assert rubric
