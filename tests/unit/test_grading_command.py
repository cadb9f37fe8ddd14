"""`lab check exercise`, `lab grade` and `lab pack` on files: templates, grades, archives, and edited folders."""

import csv
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from lab.command import grading
from lab.command.grading import check_exercise, grade_all, pack_run
from lab.errors import UserError
from lab.grading.answers import NAME, read_answers
from lab.grading.exercise import read_exercise
from lab.grading.pack import contents, names_in, unpack, write_archive
from lab.record.files import read_text, write_packed
from tests import studies
from tests.command_line import one_line
from tests.forked import lab
from tests.labs import LAB

RECORDED = studies.RESULTS / "quick"


def write_answers(path: Path, number: str = "2", pseudonym: str = "null", **instead: object) -> Path:
    """Write the honest answers to an exercise about the recorded run, with some others instead."""
    answers = {**studies.honest_answers(read_exercise(number), studies.recorded()), **instead}
    lines = [f"  {name}: {json.dumps(answer)}" for name, answer in answers.items()]
    head = ["format: tollbooth.answers", "version: 1", f"exercise: {number}", f"pseudonym: {pseudonym}", "answers:"]
    path.write_text("\n".join([*head, *lines, ""]))
    return path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a student's copy of the recorded run, with honest answers."""
    copy = tmp_path / "run"
    shutil.copytree(RECORDED, copy)
    write_answers(copy / NAME)
    return copy


def graded(capsys: pytest.CaptureFixture[str], run: Path, number: str = "2", answers: Path | None = None) -> str:
    """Return what the check of a run that is not passed prints."""
    with pytest.raises(typer.Exit) as ended:
        check_exercise(LAB, number, run, answers)
    assert ended.value.exit_code == 1
    return " ".join(capsys.readouterr().out.split())


def test_the_command_line_writes_a_template_and_grades_it(tmp_path: Path) -> None:
    answers = tmp_path / "mine.yaml"
    words = ("check", "exercise", "2", str(RECORDED), "--answers", str(answers))
    first = lab(*words)
    assert first.returncode == 0 and str(answers) in first.stdout.replace("\n", "")
    read = read_answers(answers)
    assert read.exercise == 2 and set(read.answers.values()) == {None}
    assert list(read.answers) == list(read_exercise("2").questions)
    write_answers(answers)
    second = lab(*words)
    assert (second.returncode, second.stdout.splitlines()[-1]) == (0, "passed, 100% of the answers are right")


def test_a_template_names_the_trials_that_were_drawn(tmp_path: Path) -> None:
    answers = tmp_path / "mine.yaml"
    check_exercise(LAB, "1", RECORDED, answers)
    text = answers.read_text()
    assert any(f"(trial {path.name})" in text for path in (RECORDED / "trials").iterdir())


def test_recorded_data_are_not_written_to() -> None:
    with pytest.raises(UserError, match="is not a run of yours") as wrong:
        check_exercise(LAB, "2", RECORDED, None)
    assert "--answers" in wrong.value.hint
    assert not (RECORDED / NAME).exists()


def test_an_unknown_exercise_is_named() -> None:
    assert "there is no exercise '9'" in one_line(lab("check", "exercise", "9"))


def test_answers_to_another_exercise_are_not_graded(run: Path) -> None:
    with pytest.raises(UserError, match="has answers to exercise 2"):
        check_exercise(LAB, "1", run, None)


def test_a_wrong_answer_is_failed_with_the_students_own_interval(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_answers(run / NAME, **{"agent-ratio": 9.0})
    said = graded(capsys, run)
    assert "your run says" in said and said.endswith("failed, 83% of the answers are right")


def test_a_run_that_is_not_precise_enough_gets_the_command_that_decides(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = read_exercise("2")
    assert exercise.precision is not None
    strict = exercise.model_copy(update={"precision": exercise.precision.model_copy(update={"half_width": 0.005})})
    monkeypatch.setattr(grading, "read_exercise", lambda _: strict)
    said = graded(capsys, run)
    assert "inconclusive, 100% of the answers are right: repeat with" in said
    assert 'make experiment EXPERIMENT=quick ARGS="--set repetitions=' in said


def _without_a_trial(run: Path) -> None:
    shutil.rmtree(run / "trials" / "006-baseline")


def _with_fewer_requests(run: Path) -> None:
    folder = run / "trials" / "011-otel-agent"
    lines = read_text(folder / "requests.csv").splitlines()
    write_packed(folder / "requests.csv", "\n".join([*lines[:-20], ""]))


def _with_a_shorter_manifest(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["order"] = manifest["order"][:-1]
    (run / "manifest.json").write_text(json.dumps(manifest))


def _with_another_summary(run: Path) -> None:
    write_packed(run / "summary.json", read_text(run / "summary.json").replace('"ratio":1.2', '"ratio":1.0'))


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (_without_a_trial, "trials are missing: 6"),
        (_with_fewer_requests, "does not have 44 requests in each of its turns"),
        (_with_a_shorter_manifest, "order of the trials is not the one that follows from the seed"),
        (_with_another_summary, "summary.json is not what the records give"),
    ],
)
def test_an_edited_folder_is_failed(
    edit: Callable[[Path], None], reason: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(run)
    said = graded(capsys, run)
    assert said.casefold().replace(" ", "").find(reason.casefold().replace(" ", "")) >= 0
    assert said.endswith("failed, 0% of the answers are right")


def test_a_class_is_graded_to_csv_and_copies_are_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(run / NAME, pseudonym="ada")
    copy, broken, out = tmp_path / "copy", tmp_path / "broken", tmp_path / "grades.csv"
    shutil.copytree(run, copy)
    write_answers(copy / NAME, pseudonym="bob", **{"agent-ratio": 9.0})
    broken.mkdir()
    grade_all(LAB, [run, copy, broken], out)
    with out.open(newline="") as file:
        ada, bob, other = csv.DictReader(file)
    assert (ada["pseudonym"], ada["outcome"], ada["score"]) == ("ada", "passed", "1.00")
    assert ada["reasons"] == "shares raw records with bob"
    assert (bob["outcome"], bob["score"]) == ("failed", "0.83")
    assert bob["reasons"].startswith("agent-ratio: 9.0 (your run says ")
    assert bob["reasons"].endswith("; shares raw records with ada")
    assert (other["pseudonym"], other["outcome"]) == ("broken", "failed")
    assert "ada shares raw records with bob" in capsys.readouterr().out
    with pytest.raises(UserError, match="is there already"):
        grade_all(LAB, [run], out)


@pytest.mark.parametrize("step", ["read_study", "grade", "Printed"])
def test_whatever_fails_in_a_run_fails_alone(
    step: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_at_first(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 1:
            raise ZeroDivisionError("no time passed")
        return works(*given)

    calls, works = list[Any](), getattr(grading, step)
    monkeypatch.setattr(grading, step, broken_at_first)
    write_answers(run / NAME, pseudonym="ada")
    broken, out = tmp_path / "broken", tmp_path / "grades.csv"
    shutil.copytree(run, broken)
    grade_all(LAB, [broken, run], out)
    with out.open(newline="") as file:
        failed, ada = csv.DictReader(file)
    assert (failed["pseudonym"], failed["outcome"], failed["score"]) == ("broken", "failed", "0.00")
    assert failed["reasons"] == "cannot be read: ZeroDivisionError: no time passed"
    assert (ada["pseudonym"], ada["outcome"], ada["reasons"]) == ("ada", "passed", "")


def test_a_run_that_could_not_be_packed_can_be_packed_again(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    found = contents(run, run / NAME)
    with pytest.raises(FileNotFoundError):
        write_archive({**found, "gone": run / "gone"}, out / "ada.tar.xz", "ada")
    assert list(out.iterdir()) == []
    write_archive(found, out / "ada.tar.xz", "ada")
    assert list(out.iterdir()) == [out / "ada.tar.xz"]
    assert unpack(out / "ada.tar.xz", tmp_path / "in").name == "ada"


def test_an_archive_in_a_folder_that_is_not_there_is_one_line(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"there is no folder {tmp_path / 'none'}") as wrong:
        pack_run(LAB, run, None, tmp_path / "none" / "ada.tar.xz")
    assert wrong.value.hint == "name a file in a folder that exists"


def test_what_is_packed_is_listed_complete_and_graded_the_same(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "trials" / "006-baseline" / "overlay.json").write_text('{"volumes": ["/home/ada/lab:/out"]}')
    archive, out = tmp_path / "handed-in.tar.xz", tmp_path / "grades.csv"
    pack_run(LAB, run, None, archive)
    said = capsys.readouterr().out
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    names = {member.name.partition("/")[2] for member in members}
    assert names == set(contents(run, run / NAME)) and "overlay.json" not in str(names)
    assert all(name in said for name in names)
    assert {(member.uname, member.gname, member.uid, member.mtime) for member in members} == {("", "", 0, 0)}
    assert {member.name.partition("/")[0] for member in members} == {studies.recorded().pseudonym}
    grade_all(LAB, [archive], out)
    with out.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["pseudonym"], row["outcome"], row["reasons"]) == (studies.recorded().pseudonym, "passed", "")


@pytest.mark.parametrize("name", ["adalovelace", "/home/ada", "/Users/ada", "C:\\\\Users\\\\ada", "ada-laptop"])
def test_nothing_is_packed_that_names_a_person_a_machine_or_a_folder(
    name: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading.getpass, "getuser", lambda: "adalovelace")
    monkeypatch.setattr(grading.socket, "gethostname", lambda: "ada-laptop")
    manifest = run / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"lab run quick"', f'"lab run quick {name}"'))
    with pytest.raises(UserError, match=r"manifest\.json, line \d+: .* names you"):
        pack_run(LAB, run, None, tmp_path / "out.tar.xz")
    assert not (tmp_path / "out.tar.xz").exists()


def test_words_that_contain_a_name_are_no_names(run: Path) -> None:
    found = contents(run, run / NAME)
    assert list(names_in(found, ["ate", "ad"])) == []
    assert [place.partition(",")[0] for place in names_in({"manifest.json": found["manifest.json"]}, ["quick"])] == [
        "manifest.json"
    ]


def test_what_is_no_archive_is_said_in_one_line(tmp_path: Path) -> None:
    text = tmp_path / "essay.tar.xz"
    text.write_text("dear teacher")
    with pytest.raises(UserError, match="cannot be unpacked"):
        unpack(text, tmp_path / "out")
