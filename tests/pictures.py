"""Figures of the report that a document shows by themselves: as they would be on a light page."""

import re

from markupsafe import Markup

from lab.report.palette import PALETTE, PAPER


def alone(figure: Markup) -> str:
    """Return the figure with its colours and font: an image does not have the report's style sheet."""
    text = str(figure).replace(">", f' style="background: {PAPER.light}">', 1)
    text = re.sub("font-family: .*?;", "font-family: sans-serif;", text)
    for colour in PALETTE:
        text = text.replace(f"var({colour.variable})", colour.light)
    return f"{text.rstrip()}\n"
