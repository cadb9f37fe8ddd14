"""The page's colours: one per level, the same in every table and figure, each with its dark counterpart.

The levels' hues are those of Okabe and Ito's palette, which colour-blind readers can distinguish; baseline and
placebo are greys, since they are what the others are compared with. Further levels get the same hues lighter
or darker, so no two share a colour. Figures are drawn with the light colours;
`lab.report.svg` then puts the CSS variable in each one's place, so that the page can be dark on a screen and
light on paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """A colour of the page: the name of its CSS variable, and its value on light and on dark."""

    variable: str
    light: str
    dark: str


INK = Colour("--ink", "#1b2430", "#e8ecf1")
MUTED = Colour("--muted", "#576271", "#a3adba")
RULE = Colour("--rule", "#d3d9e1", "#38424f")
BAND = Colour("--band", "#e6ebf1", "#2a3440")
PAPER = Colour("--paper", "#fffffe", "#151b23")
REJECTED = Colour("--rejected", "#b3261e", "#ff8a80")
WORSE = Colour("--worse", "#a33b00", "#ff9a5c")
BETTER = Colour("--better", "#00694d", "#4fd6a8")

BASELINE = Colour("--baseline", "#4a5563", "#c3cbd5")
PLACEBO = Colour("--placebo", "#8e98a5", "#7f8a98")
HUES = (
    Colour("--level-1", "#0072b2", "#4ba9e0"),
    Colour("--level-2", "#d55e00", "#f08a3c"),
    Colour("--level-3", "#009e73", "#35c79c"),
    Colour("--level-4", "#cc79a7", "#e09cc3"),
    Colour("--level-5", "#e69f00", "#f2bb45"),
    Colour("--level-6", "#56b4e9", "#8ccdf2"),
    Colour("--level-7", "#7a5fb5", "#a894dc"),
    Colour("--level-8", "#8a6d3b", "#c2a56f"),
)
SHADES = (0.45, -0.2, 0.6, 0.15, 0.3)
"""How far each turn of the hues is moved: on light towards white, on dark towards black; negative the other way."""


def _moved(colour: str, shade: float) -> str:
    end = 255 if shade > 0 else 0
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(shade) * (end - part)):02x}" for part in parts)


OTHERS = (
    *HUES,
    *(
        Colour(f"--level-{index}", _moved(hue.light, shade), _moved(hue.dark, -shade))
        for turn, shade in enumerate(SHADES, start=1)
        for index, hue in enumerate(HUES, start=1 + turn * len(HUES))
    ),
)

PALETTE = (INK, MUTED, RULE, BAND, PAPER, REJECTED, WORSE, BETTER, BASELINE, PLACEBO, *OTHERS)


def level_colours(levels: Sequence[str], baseline: str, placebo: str) -> Mapping[str, Colour]:
    """Give each level its colour, in the order given: each hue once, then their lighter and darker shades."""
    fixed = {baseline: BASELINE, placebo: PLACEBO}
    others = [name for name in levels if name not in fixed]
    hues = {name: OTHERS[index % len(OTHERS)] for index, name in enumerate(others)}
    return {name: fixed.get(name) or hues[name] for name in levels}


def service_colours(services: Sequence[str]) -> Mapping[str, Colour]:
    """Give each service of a trace a colour, the entry (the first) the ink-like one."""
    hues = (BASELINE, *OTHERS)
    return {name: hues[index % len(hues)] for index, name in enumerate(services)}
