from pathlib import Path

import pytest

from lab.errors import UserError
from lab.variants import load_variants, variant_named

GOOD = "format: tollbooth.variant\nversion: 1\ntitle: By hand\nbackend: jaeger\ntraces: true\nenvironment: {A: b}\n"


def add(folder: Path, name: str, text: str = GOOD) -> None:
    (folder / name).mkdir()
    (folder / name / "variant.yaml").write_text(text)


def test_variants_are_the_folders_with_a_variant_file(tmp_path: Path) -> None:
    add(tmp_path, "otel-manual")
    add(tmp_path, "baseline", GOOD.replace("jaeger", "none").replace("true", "false").replace("{A: b}", "{}"))
    (tmp_path / "contract").mkdir()
    variants = load_variants(tmp_path)
    assert list(variants) == ["baseline", "otel-manual"]
    assert (variants["otel-manual"].backend, variants["otel-manual"].traces) == ("jaeger", True)
    assert variants["otel-manual"].environment == {"A": "b"}
    assert not variants["baseline"].traces


def test_an_unknown_variant_is_answered_with_the_nearest(tmp_path: Path) -> None:
    add(tmp_path, "otel-manual")
    variants = load_variants(tmp_path)
    assert variant_named("otel-manual", variants) is variants["otel-manual"]
    with pytest.raises(UserError) as caught:
        variant_named("otel-manul", variants)
    assert caught.value.message.startswith("unknown telemetry variant 'otel-manul'; did you mean 'otel-manual'?")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", "titel: unknown key; did you mean 'title'?"),
        ("true", '"true"', 'traces: saw "true", wanted true or false'),
        ("jaeger", "Jaeger", 'backend: saw "Jaeger", wanted text of the form [a-z][a-z0-9-]{0,30}'),
        ("{A: b}", "{A: 1}", "environment.A: saw 1, wanted text: put it in quotes"),
    ],
)
def test_a_wrong_variant_file_is_told_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    add(tmp_path, "bad", GOOD.replace(old, new))
    with pytest.raises(UserError) as caught:
        load_variants(tmp_path)
    assert caught.value.message.startswith(f"{tmp_path}/bad/variant.yaml: {message}")


def test_the_variants_that_are_shipped_are_read() -> None:
    variants = load_variants(Path(__file__).parents[2] / "services" / "telemetry")
    assert {"baseline", "otel-manual", "otel-agent"} <= set(variants)
    assert not variants["baseline"].traces
