"""The views of an experiment: what is accepted, and how a wrong one is reported."""

from typing import Any

import pytest
from pydantic import ValidationError

from lab.spec.problems import dotted
from lab.spec.views import (
    HeadlineChoice,
    Interaction,
    Sweep,
    Waterfall,
    contrast_problems,
    parse_views,
    view_problems,
)

LEVELS = ("baseline", "manual-off", "manual", "agent")
FACTORS: dict[str, Any] = {"telemetry": {}, "load": {}}
WATERFALL = {"kind": "waterfall", "title": "By hand", "levels": ["baseline", "manual-off", "manual"]}
SWEEP = {
    "kind": "sweep",
    "title": "Batches",
    "levels": ["manual", "agent"],
    "values": [512, 1],
    "axis": "maximum batch size",
    "scale": "log2",
}
INTERACTION = {"kind": "interaction", "title": "Load", "factors": ["telemetry", "load"]}


def problems(*views: dict[str, Any]) -> list[tuple[str, str]]:
    return [(dotted(problem.path), problem.text) for problem in view_problems(parse_views(views), LEVELS, FACTORS)]


def test_views_of_each_kind_are_read_from_a_manifests_lists() -> None:
    waterfall, sweep, interaction = parse_views([WATERFALL, SWEEP, INTERACTION])
    assert isinstance(waterfall, Waterfall)
    assert isinstance(sweep, Sweep)
    assert isinstance(interaction, Interaction)
    assert list(waterfall.levels) == WATERFALL["levels"]
    assert list(sweep.values) == [512.0, 1.0]
    assert problems(WATERFALL, SWEEP, INTERACTION) == []


@pytest.mark.parametrize(
    ("view", "place", "text"),
    [
        (
            WATERFALL | {"levels": ["baseline", "manul-off"]},
            "views[0].levels[1]",
            "no level is called 'manul-off'; did you mean 'manual-off'? "
            "(there are: agent, baseline, manual, manual-off)",
        ),
        (WATERFALL | {"levels": ["agent", "agent"]}, "views[0].levels", "'agent' is there 2 times, expected once"),
        (SWEEP | {"values": [512, 8, 1]}, "views[0].values", "got 3, expected one for each of 2 levels"),
        (SWEEP | {"values": [512, 0]}, "views[0].values", "got 0, expected more than 0 on a log2 scale"),
        (
            INTERACTION | {"factors": ["telemetry", "lode"]},
            "views[0].factors[1]",
            "no factor is called 'lode'; did you mean 'load'? (there are: load, telemetry)",
        ),
    ],
)
def test_a_wrong_view_is_reported_with_its_place_and_what_is_right(view: dict[str, Any], place: str, text: str) -> None:
    assert problems(view) == [(place, text)]


@pytest.mark.parametrize(
    ("contrast", "place", "text"),
    [
        (
            {"level": "manul", "to": "baseline"},
            "headline.compare[0].level",
            "no level is called 'manul'; did you mean 'manual'? (there are: agent, baseline, manual, manual-off)",
        ),
        ({"level": "agent", "to": "agent"}, "headline.compare[0]", "'agent' is compared with itself"),
    ],
)
def test_a_wrong_comparison_is_reported_with_its_place(contrast: dict[str, str], place: str, text: str) -> None:
    headline = HeadlineChoice.model_validate({"compare": [contrast]})
    assert [(dotted(one.path), one.text) for one in contrast_problems(headline, LEVELS)] == [(place, text)]


@pytest.mark.parametrize("view", [{"kind": "pie"}, WATERFALL | {"levels": ["baseline"]}, SWEEP | {"colour": "red"}])
def test_what_is_no_view_is_rejected(view: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        parse_views([view])
