"""What the page says of a run: the words of its report, of the levels that are compared."""

from lab.page.runs import run as shown
from lab.report.tables import finding_of
from tests.several_runs import run


def test_the_placebo_is_no_finding_and_the_words_are_the_reports() -> None:
    # 3 % more, known to 1 %: within the margin, and yet no equality.
    one = run(1, {"placebo": 1.0, "otel-manual": 1.03, "otel-agent": 1.35}, blocks=8, noise=0.005)
    found = shown(one.summary, one.manifest)
    said = {row["level"]: row["verdict"] for row in found["rows"]}
    assert said == {"otel-manual": "differs by less than 5 %", "otel-agent": "higher"}
    assert found["verdicts"] == {"differs by less than 5 %": 1, "higher": 1}
    of = {(row.level, row.metric): row for row in one.summary.estimates}
    word = finding_of(one.summary, of["otel-agent", one.summary.headline.primary])
    assert word is not None
    assert word.word == "higher"


def test_a_bound_is_sent_as_one() -> None:
    one = run(1)
    estimates = [row.model_copy(update={"comparison_censored": "at least"}) for row in one.summary.estimates]
    found = shown(one.summary.model_copy(update={"estimates": estimates}), one.manifest)
    assert {row["bound"] for row in found["rows"]} == {"at least"}
