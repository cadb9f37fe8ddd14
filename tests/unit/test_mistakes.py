"""A user's mistakes at the command line: reported at once, in one line."""

import subprocess
import sys

import pytest

from tests import command_line
from tests.command_line import one_line
from tests.forked import lab

# Modules that take tenths of a second and more to load; a mistake is reported without them.
SLOW = {"scipy.stats", "scipy.special", "scipy.optimize", "MLRsearch", "matplotlib"}
KEPT = "docs/results"
MISTAKES = [
    (["run", "quikc"], "quick"),
    (["run", "quick", "--set", "repetitions=-1"], "repetitions"),
    (["run", "quick", "--set", "factors.telemetry.x={telemetry: otel-agnt}"], "otel-agent"),
    (["run", "quick", "--set", "protocol.windw_s=1"], "did you mean 'protocol.window_s'?"),
    (["run", "quick", "--set", "topology=mesch"], "mesh"),
    (["run", "quick", "--levels", "otel-agnt"], "did you mean 'otel-agent'?"),
    (["plan", "quick", "--half-width", "5"], "--half-width 5 is out of range"),
    (["up", "mehs"], "did you mean 'mesh'?"),
    (["up", "--set", "telemetry=otel-manua"], "otel-manual"),
    (["up", "--set", "topology=mesch"], "did you mean 'mesh'?"),
    (["up", "--set", "sidecar=retrys"], "did you mean 'retries'?"),
    (["up", "--fault", "packet-dela"], "did you mean 'packet-delay'?"),
    (["up", "--fault", "envoy-delay"], "needs a sidecar"),
    (["analyse", "results/none"], "results/none is not a results folder"),
    (["experimnt"], "experiment"),
]


@pytest.mark.parametrize(("words", "expected"), MISTAKES)
def test_a_mistake_is_one_line_that_names_the_right_word(words: list[str], expected: str) -> None:
    assert expected in one_line(lab(*words))


@pytest.mark.parametrize(
    "words",
    [
        ["combine", f"{KEPT}/quick", f"{KEPT}/quick-2", "--json", "none/combined.json"],
        ["model", f"{KEPT}/collector-model", f"{KEPT}/collector-model-tail", "--out", "none/model.json"],
        ["grade", f"{KEPT}/quick", "--csv", "none/grades.csv"],
        ["check", "exercise", "2", f"{KEPT}/quick", "--answers", "none/mine.yaml"],
    ],
)
def test_a_file_in_a_folder_that_is_not_there_is_rejected_before_the_work(words: list[str]) -> None:
    done = lab(*words)
    assert one_line(done) == "error: there is no folder none"
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("words", [["run", "quikc"], ["table", "docs/results/quick"]])
def test_a_fork_says_what_a_process_of_its_own_says(words: list[str]) -> None:
    forked, own = lab(*words), command_line.lab(*words)
    assert (forked.returncode, forked.stdout, forked.stderr) == (own.returncode, own.stdout, own.stderr)


def test_what_is_slow_to_load_is_not_loaded_for_the_command_line() -> None:
    program = "import sys, lab.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "lab.command.commands" in loaded
    assert SLOW.isdisjoint(loaded)
