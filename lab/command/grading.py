"""`lab check exercise`, `lab grade`, `lab pack`: a student's run and answers, graded and handed in."""

import csv
import getpass
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lab.analysis.lab import Lab
from lab.command.commands import console, say
from lab.command.paths import RESULTS, ROOT, new_file, results_folder, shown
from lab.command.prepare import read_experiment
from lab.errors import UserError
from lab.grading.answers import NAME, Answers, read_answers, template
from lab.grading.consistent import shared
from lab.grading.exercise import read_exercise
from lab.grading.grade import Grade, grade, records_rows
from lab.grading.keys import key_of
from lab.grading.pack import contents, names_in, unpack, write_archive
from lab.grading.study import read_study
from lab.report.checklist import checklist_table

FAILED = 1
COLUMNS = ("pseudonym", "exercise", "outcome", "score", "reasons")
NOBODY = {"root"}
"""User names that are no names of people."""

Run = Annotated[Path | None, typer.Argument(help="A results folder; the newest one of the exercise if left out.")]
AnswersFile = Annotated[Path | None, typer.Option("--answers", help="The answers; left out: those in the folder.")]


@dataclass(frozen=True)
class Printed:
    """A trial's name and prints: what is left of it once its run is graded."""

    name: str
    prints: frozenset[int]


@dataclass(frozen=True)
class HandedIn:
    """A student's grade, and what shows whether two students have the same records."""

    pseudonym: str
    exercise: str
    outcome: str
    score: float
    reasons: Sequence[str]
    trials: Sequence[Printed] = ()


def add(app: typer.Typer, checks: typer.Typer, lab: Lab) -> None:
    """Add the commands to the command line."""

    @checks.command(
        epilog="Examples: lab check exercise 2 · lab check exercise 2 docs/results/quick --answers mine.yaml"
    )
    def exercise(
        number: Annotated[str, typer.Argument(help="The exercise, from 1 to 6 (docs/labs/).")],
        run: Run = None,
        answers: AnswersFile = None,
    ) -> None:
        """Grades your run and your answers, with reasons; writes an empty answers file first."""
        check_exercise(lab, number, run, answers)

    @app.command(name="grade", epilog="Example: lab grade handed-in/*.tar.xz --csv grades.csv")
    def grade_(
        runs: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Results folders, or archives of them.")],
        out: Annotated[Path, typer.Option("--csv", help="The file to write.")] = Path("grades.csv"),
    ) -> None:
        """Grades what students handed in: a line for each, and which of them have the same raw records."""
        grade_all(lab, runs, out)

    @app.command(epilog="Example: lab pack results/quick/latest")
    def pack(
        run: Annotated[Path, typer.Argument(help="Your results folder, with your answers.")],
        answers: AnswersFile = None,
        out: Annotated[Path | None, typer.Option(help="The archive; left out: it has your pseudonym.")] = None,
    ) -> None:
        """Packs a run and its answers to hand in, without names of you, your machine or your folders."""
        pack_run(lab, run, answers, out)


def check_exercise(lab: Lab, number: str, run: Path | None, answers: Path | None) -> None:
    """Prints the grade of a run, or writes an empty answers file; ends the program with 1 where it is not passed."""
    exercise = read_exercise(number)
    folder = results_folder(run) if run else _newest(exercise.experiment)
    path = new_file(answers or _answers_of(folder))
    study = read_study(folder, lab)
    wanted = read_experiment(lab, exercise.experiment, [])
    title = f"Exercise {number}: {exercise.title}"
    if path.exists():
        graded = grade(study, exercise, wanted, _read_of(path, number).answers)
    elif wrong := records_rows(study, wanted):
        graded = Grade(wrong, "failed", 0.0)
    else:
        keys = {name: key_of(name, question, study) for name, question in exercise.questions.items()}
        path.write_text(template(number, exercise, keys))
        say(f"{title}. Write your answers into {shown(path)}, then run this command again")
        return
    _print(title, graded)
    if graded.outcome != "passed":
        raise typer.Exit(FAILED)


def grade_all(lab: Lab, runs: Sequence[Path], out: Path) -> None:
    """Writes the grade of each run to a CSV file, and prints which runs have the same raw records."""
    if new_file(out).exists():
        raise UserError(f"{out} is there already", "remove it first, or name another file: --csv FILE")
    handed_in = [_handed_in(lab, run) for run in runs]
    copies = _copies(handed_in)
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for one, copied in zip(handed_in, copies, strict=True):
            reasons = "; ".join([*one.reasons, *copied])
            writer.writerow([one.pseudonym, one.exercise, one.outcome, f"{one.score:.2f}", reasons])
    for one, copied in zip(handed_in, copies, strict=True):
        for wrong in copied:
            say(f"{one.pseudonym} {wrong}")
    say(f"grades: {out}")


def pack_run(lab: Lab, run: Path, answers: Path | None, out: Path | None) -> None:
    """Writes the archive and lists what is in it. Raises `UserError` where a file names the student or the machine."""
    folder = results_folder(run)
    path = answers or folder / NAME
    given = read_answers(path)
    found = contents(folder, path)
    if seen := next(names_in(found, _names()), None):
        raise UserError(f"{seen} names you, this machine or a folder", "nothing was written: remove it from the file")
    pseudonym = given.pseudonym or read_study(folder, lab).pseudonym
    archive = new_file(out or Path(f"{pseudonym.replace(' ', '-')}-exercise-{given.exercise}.tar.xz"))
    write_archive(found, archive, pseudonym.replace(" ", "-"))
    for name, file in found.items():
        say(f"{file.stat().st_size:>10} {name}")
    say(f"packed: {archive}")


def _names() -> list[str]:
    """What must not be handed in."""
    return [*({getpass.getuser()} - NOBODY), socket.gethostname(), str(Path.home()), str(ROOT)]


def _newest(experiment: str) -> Path:
    """The newest run of an experiment."""
    runs = sorted(path.parent for path in RESULTS.glob(f"{experiment}/2*Z/manifest.json"))
    if not runs:
        raise UserError(
            f"there is no run of {experiment}",
            f"run `make experiment EXPERIMENT={experiment}`, or take recorded data (docs/labs/README.md)",
        )
    return runs[-1]


def _answers_of(folder: Path) -> Path:
    """Where a run's answers are. Recorded data of the repository are shared, so that answers go elsewhere."""
    path = folder / NAME
    if not path.exists() and not folder.resolve().is_relative_to(RESULTS.resolve()):
        raise UserError(f"{shown(folder)} is not a run of yours", "name a file for your answers: --answers mine.yaml")
    return path


def _read_of(path: Path, number: str) -> Answers:
    given = read_answers(path)
    if str(given.exercise) != number:
        raise UserError(f"{shown(path)} has answers to exercise {given.exercise}", f"name it: LAB={given.exercise}")
    return given


def _print(title: str, graded: Grade) -> None:
    from lab.report.terminal import print_tables  # noqa: PLC0415

    # A run whose records do not count has nothing but reasons.
    if any(row.passed for row in graded.rows):
        print_tables([checklist_table(title, graded.rows)], console)
    for reason in graded.reasons:
        say(reason)
    say(f"{graded.outcome}, {graded.score:.0%} of the answers are right" + (": repeat with" if graded.repeat else ""))
    if graded.repeat:
        say(graded.repeat)


def _handed_in(lab: Lab, run: Path) -> HandedIn:
    """The grade of a folder or an archive; what cannot be read has failed."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            folder = unpack(run, Path(scratch)) if run.is_file() else results_folder(run)
            given = read_answers(folder / NAME)
            number = str(given.exercise)
            exercise = read_exercise(number)
            study = read_study(folder, lab)
            graded = grade(study, exercise, read_experiment(lab, exercise.experiment, []), given.answers)
            trials = [Printed(one.name, one.prints) for one in study.trials]
            return HandedIn(
                given.pseudonym or study.pseudonym, number, graded.outcome, graded.score, graded.reasons, trials
            )
        except UserError as wrong:
            return HandedIn(run.name, "", "failed", 0.0, [wrong.message])
        # What somebody changed may fail anywhere, and must not cost the others their grades.
        except Exception as broken:
            return HandedIn(run.name, "", "failed", 0.0, [f"cannot be read: {type(broken).__name__}: {broken}"])


def _copies(handed_in: Sequence[HandedIn]) -> list[list[str]]:
    """Say of each student who else has the same raw records."""
    return [
        [
            f"shares raw records with {other.pseudonym}"
            for other in handed_in
            if other is not one and any(shared(one.trials, other.trials))
        ]
        for one in handed_in
    ]
