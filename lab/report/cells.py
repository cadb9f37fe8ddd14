"""What a table's cell holds, as text: a value with its interval, and a finding."""

from dataclasses import dataclass

from lab.record import Estimate
from lab.report import findings
from lab.report.numbers import DASH

SYMBOLS = {"higher": "▲", "lower": "▼", "same within margin": "=", "inconclusive": "?"}


@dataclass(frozen=True)
class Finding:
    """A finding: its words, a symbol, and whether it is good news (`better`, `worse` or `neutral`)."""

    word: str
    symbol: str
    tone: str


@dataclass(frozen=True)
class Shown:
    """A value and its interval as text; a dash and nothing where there are none."""

    value: str = DASH
    interval: str = ""

    @property
    def text(self) -> str:
        """Both in one line of plain text."""
        return f"{self.value} ({self.interval})" if self.interval else self.value


NOTHING = Shown()


def finding_of(estimate: Estimate, better: str) -> Finding | None:
    """Return an estimate's finding; `better` is the direction that is good news."""
    if estimate.finding is None:
        return None
    return finding(estimate.finding, findings.within_noise(estimate), better)


def finding(word: str, within_noise: bool = False, better: str = "lower") -> Finding:
    """Return a finding with its symbol and tone; what is not beyond the noise is no news."""
    tone = "neutral" if within_noise or word not in {"higher", "lower"} else "better" if word == better else "worse"
    return Finding(findings.doubted(word) if within_noise else word, SYMBOLS[word], tone)
