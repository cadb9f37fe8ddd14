from pathlib import Path

import pytest

from lab.errors import UserError
from lab.target.mesh.variants import Telemetry, chosen, load_variants

GOOD = """\
format: tollbooth.variant
version: 1
title: By hand
traces: all
backend: jaeger
environment: {A: b, C: d}
backends:
  jaeger: {TO: jaeger}
  sink: {TO: sink}
"""
ABSENT = "format: tollbooth.variant\nversion: 1\ntitle: Nothing\ntraces: none\n"


def add(folder: Path, name: str, text: str = GOOD) -> None:
    (folder / name).mkdir()
    (folder / name / "variant.yaml").write_text(text)


def test_variants_are_the_folders_with_a_variant_file(tmp_path: Path) -> None:
    add(tmp_path, "otel-manual")
    add(tmp_path, "baseline", ABSENT)
    (tmp_path / "contract").mkdir()
    variants = load_variants(tmp_path)
    assert list(variants) == ["baseline", "otel-manual"]
    assert chosen(variants["otel-manual"]) == Telemetry(
        "otel-manual", "jaeger", "all", {"A": "b", "C": "d", "TO": "jaeger"}
    )
    assert chosen(variants["baseline"]) == Telemetry("baseline", "none", "none", {})


def test_a_level_chooses_over_its_variant(tmp_path: Path) -> None:
    add(tmp_path, "otel-manual@1.36.0", "instrumentation: otel-manual\n" + GOOD)
    variant = load_variants(tmp_path)["otel-manual@1.36.0"]
    assert chosen(variant, "sink", "sampled", {"C": "e"}) == Telemetry(
        "otel-manual", "sink", "sampled", {"A": "b", "C": "e", "TO": "sink"}
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", "titel: unknown key; did you mean 'title'?"),
        ("traces: all", "traces: some", 'traces: got "some", expected "all" or "sampled" or "none"; did you mean'),
        ("backend: jaeger", "backend: Jaeger", 'backend: got "Jaeger", expected text of the form [a-z][a-z0-9-]{0,30}'),
        ("backend: jaeger", "backend: zipkin", "backend: 'zipkin' is not among its backends; "),
        ("A: b", "A: 1", "environment.A: got 1, expected text of 0 to 4000 characters: put it in quotes"),
    ],
)
def test_a_wrong_variant_file_is_reported_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    add(tmp_path, "bad", GOOD.replace(old, new))
    with pytest.raises(UserError) as caught:
        load_variants(tmp_path)
    assert caught.value.message.startswith(f"{tmp_path}/bad/variant.yaml: {message}")


def test_the_variants_that_are_shipped_are_read() -> None:
    variants = load_variants(Path(__file__).parents[2] / "services" / "telemetry")
    assert {"baseline", "otel-manual", "otel-agent"} <= set(variants)
    assert variants["baseline"].traces == "none"
