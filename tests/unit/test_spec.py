import json
import random
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import get_args

import pytest

from lab.cli import LAB
from lab.command.schema import schema_text, schemas
from lab.errors import UserError
from lab.load.schedule import ClosedLoop
from lab.spec.experiment import Experiment
from lab.spec.level import merged
from lab.spec.parse import (
    Grammar,
    TargetModels,
    load_experiment,
    parse_experiment,
    recorded_experiment,
)
from lab.spec.problems import SpecError, dotted
from lab.spec.yamlfile import MAX_FILE_BYTES, find_named_file
from lab.target.mesh.declaration import MeshDeclaration
from lab.target.mesh.settings import MeshLevelSettings, MeshSettings
from lab.target.mesh.variants import Variant
from tests.labs import MESH, parse

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

GOOD = """\
format: tollbooth.experiment
version: 2
title: A title
question: A question?
target: {kind: mesh, topology: mesh}
load: {generator: locust, schedule: {kind: closed-loop, users: 8, think_time_s: [1.0, 1.1]}}
factors:
  telemetry:
    baseline: {}
    otel-agent: {telemetry: otel-agent, environment: {OTEL_BSP_SCHEDULE_DELAY: "5000"}}
baseline: baseline
protocol: {warm_up_s: 10, window_s: 15, repetitions: 3}
"""

TWO_FACTORS = {
    "  telemetry:\n": "  batch:\n    slow: {environment: {DELAY: '5000', SIZE: '1'}}\n    fast: {}\n  telemetry:\n",
    "baseline: baseline": "baseline: slow/baseline",
    "OTEL_BSP_SCHEDULE_DELAY": "DELAY",
    '"5000"': '"20"',
}


def text_with(changes: dict[str, str]) -> str:
    text = GOOD
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def message_of(path: Path, *overrides: str) -> str:
    with pytest.raises(UserError) as caught:
        load_experiment(path, LAB.grammar, overrides)
    return caught.value.message.replace(f"{path.parent}/", "")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write_bad(content: str | bytes) -> Path:
        path = tmp_path / "bad.yaml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_bad


Write = Callable[[str | bytes], Path]


def test_quick_is_read_and_named_after_its_file() -> None:
    experiment = load_experiment(find_named_file("experiment", "quick", EXPERIMENTS), LAB.grammar)
    assert experiment.name == "quick"
    assert [level.name for level in experiment.levels()] == ["baseline", "otel-manual", "otel-agent"]
    assert experiment.baseline_level().settings.telemetry == "baseline"


def test_defaults_are_filled_in() -> None:
    experiment = parse(GOOD, "x")
    assert (experiment.protocol.retries, experiment.protocol.seed) == (2, 1)
    assert experiment.observer.rate_hz == 1
    assert isinstance(experiment.load.schedule, ClosedLoop)
    assert experiment.load.schedule.baseline_cpu_fraction == 0.4


def test_an_experiment_survives_its_manifest() -> None:
    experiment = parse(text_with(TWO_FACTORS), "x")
    again = recorded_experiment(experiment.recorded(), LAB.grammar)
    assert again == experiment
    assert again.levels() == experiment.levels()


def test_levels_of_one_factor_keep_their_names_and_settings() -> None:
    baseline, agent = parse(GOOD, "x").levels()
    assert (baseline.name, baseline.settings.telemetry, baseline.settings.environment) == ("baseline", "baseline", {})
    assert agent.recorded() == {
        "telemetry": "otel-agent",
        "environment": {"OTEL_BSP_SCHEDULE_DELAY": "5000"},
        "backend": None,
        "traces": None,
        "memory_mib": None,
        "topology": "mesh",
        "users_fraction": 1.0,
        "sidecar": "none",
        "sidecar_side": "front",
        "envoy_runtime": {},
        "error_probability": None,
        "faults": [],
        "observer_rate_hz": None,
    }


def test_a_level_may_choose_backend_traces_a_share_of_the_users_and_how_often_it_is_observed() -> None:
    chosen = "{telemetry: otel-agent, backend: sink, traces: sampled, users_fraction: 0.5, observer_rate_hz: 20"
    agent = parse(text_with({"{telemetry: otel-agent": chosen}), "x").levels()[1].settings
    assert (agent.backend, agent.traces, agent.users_fraction) == ("sink", "sampled", 0.5)
    assert agent.observer_rate_hz == 20


def test_levels_of_two_factors_are_their_cross_product_and_the_later_patch_holds() -> None:
    levels = {level.name: level for level in parse(text_with(TWO_FACTORS), "x").levels()}
    assert list(levels) == ["slow/baseline", "slow/otel-agent", "fast/baseline", "fast/otel-agent"]
    assert levels["slow/otel-agent"].settings.telemetry == "otel-agent"
    assert levels["slow/otel-agent"].settings.environment == {"DELAY": "20", "SIZE": "1"}
    assert levels["slow/baseline"].settings.environment == {"DELAY": "5000", "SIZE": "1"}
    assert levels["fast/baseline"].settings.telemetry == "baseline"


def test_the_placebo_is_the_baseline_under_another_name() -> None:
    placebo = parse(text_with(TWO_FACTORS), "x").placebo_level()
    assert placebo.name == "placebo"
    assert placebo.settings.environment == {"DELAY": "5000", "SIZE": "1"}


NOT_A_NAME = "not a valid name here; expected text of the form"
KINDS = ", ".join(sorted(LAB.targets))
GENERATORS = " or ".join(
    sorted(f'"{name}"' for load in LAB.loads for name in get_args(load.model_fields["generator"].annotation))
)

# What is changed in the good file, and the one line that says so.
WRONG_FIELDS = [
    ("repetitions: 3", "repetitions: -1", 'protocol.repetitions: got -1, expected a whole number from 1 to 1000'),
    ("repetitions: 3", "repetitions: 0", 'protocol.repetitions: got 0, expected a whole number from 1 to 1000'),
    ("repetitions: 3", "repetitions: true", 'protocol.repetitions: got true, expected a whole number from 1 to 1000'),
    ("repetitions: 3", "repetitions: 2.5", 'protocol.repetitions: got 2.5, expected a whole number from 1 to 1000'),
    ("repetitions: 3", "repetitions: 1e3", 'protocol.repetitions: got 1000.0, expected a whole number from 1 to 1000'),
    ("repetitions: 3", 'repetitions: "3"', 'protocol.repetitions: got "3", expected a whole number from 1 to 1000'),
    ("repetitions: 3", "repetitions:", 'protocol.repetitions: got nothing, expected a whole number from 1 to 1000'),
    (", repetitions: 3", "", "protocol.repetitions: missing; expected a whole number from 1 to 1000"),
    ("warm_up_s: 10, ", "", "protocol.warm_up_s: missing; expected a number from 0 to 3600, or else warm_up_requests"),
    ("warm_up_s: 10", "warm_up_s: 10, warm_up_requests: 9",
        "protocol.warm_up_requests: a warm-up ends by time or by requests: leave one out"),
    ("warm_up_s: 10", "warm_up_s: 1e9",
        "protocol.warm_up_s: got 1000000000.0, expected a number from 0 to 3600 or nothing"),
    ("warm_up_s: 10", "warm_up_s: .inf", "protocol.warm_up_s: got inf, expected a number from 0 to 3600 or nothing"),
    ("warm_up_s: 10", "warm_up_s: .nan", "protocol.warm_up_s: got nan, expected a number from 0 to 3600 or nothing"),
    ("warm_up_s: 10", "warm_up_s: yes", 'protocol.warm_up_s: got "yes", expected a number from 0 to 3600 or nothing'),
    ("warm_up_s: 10", "warm_up_s: 1:30", 'protocol.warm_up_s: got "1:30", expected a number from 0 to 3600 or nothing'),
    ("warm_up_s: 10", "warm_up_s: " + "9" * 9999,
        "protocol.warm_up_s: got inf, expected a number from 0 to 3600 or nothing"),
    ("users: 8", "users: many",
        'load.schedule.users: got "many", expected "calibrated" or a whole number from 1 to 10000'),
    ("users: 8", "users: true",
        'load.schedule.users: got true, expected "calibrated" or a whole number from 1 to 10000'),
    ("[1.0, 1.1]", "[1.0]", "load.schedule.think_time_s[1]: missing; expected a number from 0 to 60"),
    ("[1.0, 1.1]", "[1, 2, 3]", "load.schedule.think_time_s: got a list, expected a list of 2"),
    ("[1.0, 1.1]", "[1, true]", "load.schedule.think_time_s[1]: got true, expected a number from 0 to 60"),
    ("[1.0, 1.1]", "[2, 1]", "load.schedule.think_time_s: the shortest, 2, is longer than the longest, 1"),
    ("locust", "locst",
        f"load.generator: got \"locst\", expected {GENERATORS}; did you mean 'locust'?"),
    ("closed-loop, users: 8, think_time_s: [1.0, 1.1]", "counted, requests: 200",
        'load.schedule.kind: got "counted", expected "closed-loop"'),
    ("kind: closed-loop, users: 8", "users: 8", 'load.schedule.kind: missing; expected "closed-loop"'),
    ("{kind: closed-loop, users: 8, think_time_s: [1.0, 1.1]}", "often",
        'load.schedule: got "often", expected a mapping'),
    ("kind: mesh", "kind: mehs", f"target.kind: unknown kind \"mehs\"; did you mean 'mesh'? (there are: {KINDS})"),
    ("kind: mesh, topology: mesh", "kind: 5", f"target.kind: unknown kind 5; there are: {KINDS}"),
    ("kind: mesh, topology", "topology", f"target.kind: missing; there are: {KINDS}"),
    ("{kind: mesh, topology: mesh}", "mesh", 'target: got "mesh", expected a mapping'),
    ("target: {kind: mesh, topology: mesh}\n", "", "target: missing; expected a mapping"),
    ("format: tollbooth.experiment", "format: tollbooth.topology",
        'format: got "tollbooth.topology", expected "tollbooth.experiment"'),
    ("version: 2", "version: 3", "version: got 3, expected 2"),
    ("version: 2", "version: true", "version: got true, expected 2"),
    ("version: 2", "version: 1", "version: 1 is no longer read: convert the file with `lab migrate FILE`"),
    ("format: tollbooth.experiment\n", "", 'format: missing; expected "tollbooth.experiment"'),
    ("title: A title", "title: false", "title: got false, expected text of 1 to 120 characters: put it in quotes"),
    ("title: A title", 'title: "a\\nb"', "title: expected one line"),
    ("title: A title", 'title: ""', 'title: got "", expected text of 1 to 120 characters'),
    ("topology: mesh", "topology: ../etc",
        'target.topology: got "../etc", expected text of the form [a-z0-9][a-z0-9-]{0,62}'),
    (
        "warm_up_s",
        "warmup_s",
        "protocol.warmup_s: unknown key; did you mean 'warm_up_s'?"
        " (there are: budget_min, half_width, keep_cpus_awake, placebo, repetitions, "
        "retries, seed, side_by_side, until_settled, warm_up_requests, warm_up_s, window_s, without_restart)",
    ),
    ("title: A title", "title: A title\nname: x", "name: unknown key; there are: baseline, claims, environment, "
        "factors, format, headline, load, observer, profile, protocol, question, target, title, version, views"),
    ("    baseline: {}", "    Base/line: {}",
        f"factors.telemetry.Base/line: {NOT_A_NAME} [a-z0-9][a-z0-9._@-]{{0,40}}"),
    ("    baseline: {}", "    ..: {}",
        f"factors.telemetry...: {NOT_A_NAME} [a-z0-9][a-z0-9._@-]{{0,40}}"),
    ("    baseline: {}", "    baseline:", "factors.telemetry.baseline: got nothing, expected a mapping"),
    ("    baseline: {}", "    baseline: {}\n    placebo: {}",
        "factors.telemetry.placebo: every experiment already has a placebo: give the level another name"),
    ("baseline: baseline", "baseline: baselin",
        "baseline: no level is called \"baselin\"; did you mean 'baseline'? (there are: baseline, otel-agent)"),
    ('"5000"', "5000", "factors.telemetry.otel-agent.environment.OTEL_BSP_SCHEDULE_DELAY: got 5000, "
        "expected text of 0 to 4000 characters: put it in quotes"),
    ("OTEL_BSP_SCHEDULE_DELAY", '"A B"', 'factors.telemetry.otel-agent.environment."A B": '
        f"{NOT_A_NAME} [A-Za-z_][A-Za-z0-9_]{{0,100}}"),
    ("protocol: {", "protocol: {retries: 99, ", "protocol.retries: got 99, expected a whole number from 0 to 10"),
    ("protocol: {", "protocol: {seed: -1, ", "protocol.seed: got -1, expected a whole number from 0 to 4294967295"),
    ("load: {", "observer: {rate_hz: 0.05}\nload: {", "observer.rate_hz: got 0.05, expected a number from 0.1 to 20"),
    ("load: {", "observer: {rate_hz: 0.5}\nload: {",
        "observer.rate_hz: got 0.5; rates below 1 Hz need `side_by_side: true`"),
    ("baseline: {}", "baseline: {observer_rate_hz: 0.5}",
        "factors.telemetry.baseline.observer_rate_hz: got 0.5; rates below 1 Hz need `side_by_side: true`"),
    ("load: {", "headline: {also: [a, b, c, d]}\nload: {", "headline.also: got a list, expected a list of 0 to 3"),
    ("title: A title", "title: A title\ntitle: B", "YAML is wrong in line 4: title is given twice"),
    ("    baseline: {}", "    otel-agent: {}", "YAML is wrong in line 10: factors.telemetry.otel-agent is given twice"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), WRONG_FIELDS)
def test_a_wrong_field_is_reported_in_one_line(old: str, new: str, message: str, write: Write) -> None:
    assert message_of(write(text_with({old: new}))) == f"bad.yaml: {message}"


# Whole files, and the one line that says what is wrong with them.
WRONG_FILES: list[tuple[str | bytes, str]] = [
    ("", "bad.yaml: empty"),
    ("# only a comment\n", "bad.yaml: empty"),
    ("- a\n- b\n", "bad.yaml: got a list, expected a mapping"),
    ("text\n", 'bad.yaml: got "text", expected a mapping'),
    ("{a: [1, 2\n", "bad.yaml: YAML is wrong in line 2: expected ',' or ']', but got '<stream end>'"),
    ("a: 1\n\tb: 2\n", "bad.yaml: YAML is wrong in line 2: found character '\\t' that cannot start any token"),
    ("a: 1\n---\nb: 2\n", "bad.yaml: YAML is wrong in line 2: but found another document"),
    ("a: b\x00c\n", "bad.yaml: YAML is wrong in line 1: character 0x0 is not allowed"),
    ('a: 1\nb: "\\0"\n', "bad.yaml: YAML is wrong in line 2: character 0x0 is not allowed"),
    ('a: "\\ud800"\n', "bad.yaml: YAML is wrong in line 1: character 0xd800 is not allowed"),
    ('a: "\\UFFFFFFFF"\n', "bad.yaml: YAML is wrong: an escape names no character"),
    (b"a: 1\nb: \xff\n", "bad.yaml is not UTF-8 text (line 2)"),
    ("a: &x [1]\nb: *x\n", "bad.yaml: YAML is wrong in line 2: aliases are not read here: write the value out"),
    ("a: !!python/name:os.system x\n", "bad.yaml: YAML is wrong in line 1: tags are not read here"),
    ("a: !!int x\n", "bad.yaml: YAML is wrong in line 1: tags are not read here"),
    ("[" * 5000, "bad.yaml: YAML is wrong in line 1: nested deeper than 20"),
    ("? [a, b]\n: c\n", "bad.yaml: YAML is wrong in line 1: a key must be text"),
    ("a: " + "x" * 10_000_000, "bad.yaml is larger than 200 kB"),
]


@pytest.mark.parametrize(("content", "message"), WRONG_FILES, ids=[message for _, message in WRONG_FILES])
def test_a_wrong_file_is_reported_in_one_line(content: str | bytes, message: str, write: Write) -> None:
    assert message_of(write(content)) == message


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(write: Write) -> None:
    path = write("\ufeff" + GOOD.replace("\n", "\r\n"))
    assert load_experiment(path, LAB.grammar).levels() == parse(GOOD, "x").levels()


def test_an_alias_bomb_ends_at_once(write: Write) -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    assert "aliases are not read here" in message_of(write("\n".join(lines)))


def test_a_file_of_just_the_allowed_size_is_read(write: Write) -> None:
    filled = GOOD + "#" * (MAX_FILE_BYTES - len(GOOD))
    assert load_experiment(write(filled), LAB.grammar).title == "A title"
    assert message_of(write(filled + "#")) == "bad.yaml is larger than 200 kB"


def test_many_problems_are_cut_to_the_first_few(write: Write) -> None:
    lines = message_of(write("{a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, target: {kind: mesh}}")).splitlines()
    assert len(lines) == 6
    assert all(line.startswith("bad.yaml: ") for line in lines)
    assert lines[-1] == f"bad.yaml: and {7 + 9 - 5} more"


def test_plain_words_and_numbers_are_read_as_yaml_1_2_does() -> None:
    assert parse(text_with({"A title": "no"}), "x").title == "no"
    assert parse(text_with({"warm_up_s: 10": "warm_up_s: 1e1"}), "x").protocol.warm_up_s == 10
    assert parse(text_with({"repetitions: 3": "repetitions: 010"}), "x").protocol.repetitions == 10
    assert parse(text_with({"otel-agent: {": "5000: {"}), "x").levels()[1].name == "5000"


def test_too_many_levels_are_rejected_before_they_are_made(write: Write) -> None:
    factors = "".join(f"  f{i}: {{{', '.join(f'l{k}: {{}}' for k in range(50))}}}\n" for i in range(9))
    path = write(text_with({"  telemetry:\n": factors + "  telemetry:\n"}))
    assert message_of(path) == f"bad.yaml: factors: make {2 * 50**9} levels, at most 100 are possible"


def test_files_that_are_none(tmp_path: Path) -> None:
    assert message_of(tmp_path) == f"{tmp_path.name} is not a file"
    assert message_of(tmp_path / "gone.yaml") == "gone.yaml cannot be read: No such file or directory"
    assert message_of(Path("/dev/zero")) == "zero is not a file"
    assert message_of(tmp_path / ("x" * 999)).endswith("cannot be read: File name too long")


def test_a_file_without_permission(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(GOOD)
    monkeypatch.setattr(Path, "open", refuse)  # file modes do not stop root, who may be running this
    assert message_of(path) == "bad.yaml cannot be read: Permission denied"


def test_a_file_name_that_cannot_name_results(tmp_path: Path) -> None:
    path = tmp_path / "My study.yaml"
    path.write_text(GOOD)
    assert message_of(path) == 'My study.yaml: name: got "My study", expected text of the form [a-z0-9][a-z0-9-]{0,62}'


def test_find_by_name_and_by_path(tmp_path: Path) -> None:
    assert find_named_file("experiment", "quick", EXPERIMENTS) == EXPERIMENTS / "quick.yaml"
    assert find_named_file("experiment", str(tmp_path / "own.yaml"), EXPERIMENTS) == tmp_path / "own.yaml"
    assert find_named_file("experiment", "own.yaml", EXPERIMENTS) == Path("own.yaml")


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    for name in ("quick", "slow"):
        (tmp_path / f"{name}.yaml").touch()
    with pytest.raises(UserError) as caught:
        find_named_file("experiment", "quik", tmp_path)
    assert caught.value.message == "unknown experiment 'quik'; did you mean 'quick'? (there are: quick, slow)"


OVERRIDES = [
    ("repetitions=7", lambda spec: spec.protocol.repetitions == 7),
    ("protocol.repetitions=7", lambda spec: spec.protocol.repetitions == 7),
    ("rate_hz=10", lambda spec: spec.observer.rate_hz == 10),
    ("seed=5", lambda spec: spec.protocol.seed == 5),
    ("users=calibrated", lambda spec: spec.load.schedule.users == "calibrated"),
    ("think_time_s=[2, 3]", lambda spec: spec.load.schedule.think_time_s == (2, 3)),
    ("baseline=otel-agent", lambda spec: spec.baseline_level().settings.telemetry == "otel-agent"),
    ("title=a = b", lambda spec: spec.title == "a = b"),
    (
        "factors.telemetry.baseline.environment={A: 'x'}",
        lambda spec: spec.levels()[0].settings.environment == {"A": "x"},
    ),
    (
        "factors.telemetry.otel-agent.environment.NEW='1'",
        lambda spec: spec.levels()[1].settings.environment == {"OTEL_BSP_SCHEDULE_DELAY": "5000", "NEW": "1"},
    ),
    ("OTEL_BSP_SCHEDULE_DELAY='1'", lambda spec: set(spec.levels()[1].settings.environment.values()) == {"1"}),
]


@pytest.mark.parametrize(("override", "holds"), OVERRIDES, ids=[override for override, _ in OVERRIDES])
def test_an_override_changes_its_field(override: str, holds: Callable[[Experiment], bool]) -> None:
    assert not holds(parse(GOOD, "x"))
    assert holds(parse(GOOD, "x", [override]))


WRONG_OVERRIDES = [
    ("repetitions", "override \"repetitions\" has no '='"),
    ("repetitions=-1", 'bad.yaml with "repetitions=-1": protocol.repetitions: got -1, '
        "expected a whole number from 1 to 1000"),
    ("repetitions=", 'bad.yaml with "repetitions=": protocol.repetitions: got nothing, '
        "expected a whole number from 1 to 1000"),
    ("repetitions=[", 'override "repetitions=[": YAML is wrong in line 1: '
        "expected the node content, but found '<stream end>'"),
    (
        "telemetry=baseline",
        'override "telemetry" could mean factors.telemetry, factors.telemetry.otel-agent.telemetry',
    ),
    ("protocol.repetition=3",
        "override of an unknown field \"protocol.repetition\"; did you mean 'protocol.repetitions'?"),
    ("windw_s=3", "override of an unknown field \"windw_s\"; did you mean 'protocol.window_s'?"),
    ("load.users=3", "override of an unknown field \"load.users\"; did you mean 'load.schedule.users'?"),
    ("protocl.seed=3", "override of an unknown field \"protocl.seed\"; did you mean 'protocol.seed'?"),
    ("xyzzy=3", 'override of an unknown field "xyzzy"'),
    ("load.schedule.users.x=3", 'override "load.schedule.users.x=3": \'users\' is 8, not a mapping'),
]  # fmt: skip


@pytest.mark.parametrize(("override", "message"), WRONG_OVERRIDES, ids=[override for override, _ in WRONG_OVERRIDES])
def test_a_wrong_override_is_reported_in_one_line(override: str, message: str, write: Write) -> None:
    assert message_of(write(GOOD), override) == message


def test_an_unknown_override_is_answered_with_the_nearest_field_or_where_fields_are_listed(write: Write) -> None:
    assert message_of(write(GOOD), "repetition=3").endswith("; did you mean 'protocol.repetitions'?")
    with pytest.raises(UserError) as caught:
        load_experiment(write(GOOD), LAB.grammar, ["xyzzy=3"])
    assert "docs/reference/formats.md" in caught.value.hint


KNOWN = {
    name: Variant.model_validate(
        {"format": "tollbooth.variant", "version": 1, "title": name, "traces": "all", "backends": {"jaeger": {}}}
    )
    for name in ("baseline", "otel-agent")
}


def problems_of(text: str, topologies: Collection[str]) -> list[str]:
    """Parse a text where the mesh has the variants KNOWN and `topologies`."""
    declaration = MeshDeclaration(MESH.parts, lambda: KNOWN, lambda: topologies)
    grammar = Grammar({"mesh": TargetModels(MeshSettings, MeshLevelSettings, declaration.problems)}, LAB.loads)
    with pytest.raises(SpecError) as caught:
        parse_experiment(text, "x", grammar)
    return [f"{dotted(problem.path)}: {problem.text}" for problem in caught.value.problems]


def test_unknown_variants_and_topologies_are_answered_with_the_nearest() -> None:
    assert problems_of(text_with({"telemetry: otel-agent": "telemetry: otel-agnt"}), ["mash"]) == [
        "factors.telemetry.otel-agent.telemetry: unknown variant 'otel-agnt';"
        " did you mean 'otel-agent'? (there are: baseline, otel-agent)",
        "target.topology: unknown topology 'mesh'; did you mean 'mash'? (there are: mash)",
    ]
    assert problems_of(text_with({"telemetry: otel-agent": "topology: mash"}), ["mesh"]) == [
        "factors.telemetry.otel-agent.topology: unknown topology 'mash'; did you mean 'mesh'? (there are: mesh)"
    ]


def test_a_backend_that_the_variant_cannot_send_to_is_named_with_those_it_can() -> None:
    chosen = "{telemetry: otel-agent, backend: jager"
    assert problems_of(text_with({"{telemetry: otel-agent": chosen}), ["mesh"]) == [
        "factors: level 'otel-agent': variant 'otel-agent' cannot send to backend 'jager';"
        " did you mean 'jaeger'? (there are: jaeger, none)"
    ]


def test_wrong_names_of_a_mesh_are_said_where_the_file_is_read(write: Write) -> None:
    message = message_of(write(text_with({"telemetry: otel-agent": "telemetry: otel-agnt"})))
    assert message.startswith(
        "bad.yaml: factors.telemetry.otel-agent.telemetry: unknown variant 'otel-agnt'; did you mean 'otel-agent'?"
    )


def test_merging_takes_only_what_a_part_sets_and_joins_mappings_and_lists() -> None:
    defaults = MeshLevelSettings(topology="mesh", users_fraction=0.5, environment={"A": "1", "B": "1"})
    killed = {"kind": "killed", "target": "a1", "start_s": 1.0, "length_s": 3.0}
    first = MeshLevelSettings.model_validate({"sidecar": "passthrough", "faults": [killed]})
    later = MeshLevelSettings(environment={"B": "2"}, observer_rate_hz=None, users_fraction=1.0)
    found = merged([defaults, first, later])
    assert found.model_fields_set == {
        "topology", "users_fraction", "environment", "sidecar", "faults", "observer_rate_hz"
    }  # fmt: skip
    # Set to its default it still takes precedence; not set, its default does not.
    assert (found.users_fraction, found.sidecar, found.topology) == (1.0, "passthrough", "mesh")
    assert found.environment == {"A": "1", "B": "2"}
    assert list(merged([first, later, first]).faults) == [*first.faults, *first.faults]
    assert merged([first, MeshLevelSettings()]) == first


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_an_experiment_that_a_manifest_records_has_the_same_levels(path: Path) -> None:
    experiment = load_experiment(path, LAB.grammar)
    again = recorded_experiment(json.loads(json.dumps(experiment.recorded())), LAB.grammar)
    assert again == experiment
    assert again.levels() == experiment.levels()
    assert again.placebo_level() == experiment.placebo_level()
    assert [level.recorded() for level in again.levels()] == [level.recorded() for level in experiment.levels()]


@pytest.mark.parametrize("seed", range(300))
def test_whatever_is_in_the_file_the_answer_is_a_spec_or_a_user_error(seed: int, write: Write) -> None:
    content = bytearray(GOOD.encode())
    draw = random.Random(seed)
    for _ in range(draw.randint(1, 8)):
        start = draw.randrange(len(content))
        content[start : start + draw.randint(0, 9)] = draw.choice(
            [
                b"",
                b"\n",
                b"  ",
                b"{",
                b"]",
                b": ",
                b"- ",
                b"\x80",
                b"\x07",
                b"'",
                b'"\\x',
                b"&a ",
                b"*a",
                b"!!set ",
                b"null",
            ]
        )
    try:
        load_experiment(write(bytes(content)), LAB.grammar)
    except UserError as error:
        assert error.message and not re.search(r"[\x00-\x09\x0b-\x1f]", error.message)


@pytest.mark.parametrize("name", schemas(LAB))
def test_the_shipped_schema_is_the_models(name: str) -> None:
    assert (EXPERIMENTS / "schema" / f"{name}.schema.json").read_text() == schema_text(schemas(LAB)[name])
