"""What the terminal and the report say of verdicts."""

import io

import pytest
from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.console import Console

from lab.analysis.claims.judge import judge
from lab.analysis.claims.records import Beside, Verdicts
from lab.analysis.claims.spec import parse_claims
from lab.report.claims import claims, headline
from lab.report.numbers import DASH, MINUS, TIMES
from lab.report.terminal import print_tables
from tests.claim_runs import CPU, summary
from tests.labs import METRICS

CLAIMS = f"""\
format: tollbooth.claims
version: 1
source: a paper of <2024>
claims:
  P1:
    says: "[bold]agents[/] cost more than <nothing> & all"
    published: "42 %"
    tests: [{{kind: order, metrics: [{CPU}], lower: [baseline], higher: [manual, agent]}}]
  P2:
    says: the agent costs twice
    tests:
      - {{kind: overhead_ratio, metrics: [{CPU}], level: agent, to: manual, within: [1.5, 2.5], because: twice}}
  P3:
    says: the agent costs less
    tests: [{{kind: order, metrics: [{CPU}], lower: [agent], higher: [baseline, manual]}}]
  P4:
    says: all are the same
    tests: [{{kind: same, metrics: [{CPU}], levels: [baseline, noisy], margin: 0.1, because: why}}]
  P5:
    says: something else
    tests: [{{kind: order, metrics: [{CPU}], lower: [baseline], higher: [other]}}]
  P6:
    says: four times nothing
    tests:
      - {{kind: overhead_ratio, metrics: [{CPU}], level: agent, to: noisy, within: [3, 5], because: four}}
figures:
  - {{metric: {CPU}, level: placebo, published: 1.5}}
  - {{metric: {CPU}, level: nowhere, published: 2}}
"""
VALUES = {
    "baseline": [50.0, 51.0, 49.0, 50.5],
    "manual": [60.0, 61.5, 58.5, 60.0],
    "agent": [70.5, 71.0, 69.0, 71.0],
    "noisy": [40.0, 70.0, 45.0, 65.0],
}


@pytest.fixture
def verdicts() -> Verdicts:
    return judge(summary({CPU: VALUES}), [parse_claims(CLAIMS, "paper", METRICS)], seed=1)


def test_a_headline_says_what_decided(verdicts: Verdicts) -> None:
    said = {judged.id: headline(judged) for judged in verdicts.claims}
    assert said == {
        "P1": f"2 of 2 comparisons hold, the closest: {CPU}, manual against baseline: +20 % (+18 % to +21 %), n = 4",
        "P2": f"{CPU}, overhead of agent to overhead of manual: {TIMES}2.05 ({TIMES}1.88 to {TIMES}2.24), n = 4",
        "P3": f"2 of 2 comparisons do not hold, such as: {CPU}, baseline against agent: "
        f"{MINUS}29 % ({MINUS}29 % to {MINUS}28 %), n = 4",
        "P4": f"{CPU}, baseline against noisy: {MINUS}6.3 % ({MINUS}38 % to +41 %), n = 4",
        "P5": "this run has no level other",
        "P6": f"{CPU}, overhead of agent to overhead of noisy: {TIMES}5.17, n = 4; "
        "noisy may cost no more than baseline",
    }


def test_the_table_has_each_claim_beside_what_was_published(verdicts: Verdicts) -> None:
    out = io.StringIO()
    print_tables([claims(verdicts).verdicts], Console(file=out, width=100))
    text = out.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 100
    found = {judged.id for judged in verdicts.claims}
    rows = [line.split() for line in text.splitlines()]
    assert [row[0] for row in rows if row and row[0] in found] == ["P1", "P2", "P3", "P4", "P5", "P6"]
    assert "[bold]agents[/]" in text
    assert [text.count(word) for word in ("holds here", "does not hold here", "not tested here")] == [2, 1, 1]


def test_a_published_figure_is_beside_the_runs_mean_where_the_run_has_the_level(verdicts: Verdicts) -> None:
    (table,) = claims(verdicts).figures
    assert table.columns[1].title == f"{CPU} (ms): published"
    assert [[cell.value for cell in row[:3]] for row in table.rows] == [["placebo", "1.5", "1.00"]]
    out = io.StringIO()
    print_tables(claims(verdicts).figures, Console(file=out, width=100))
    assert ["placebo", "1.5", "1.00"] in [line.split()[:3] for line in out.getvalue().splitlines()]


def test_metrics_that_were_published_for_the_same_levels_share_a_table(verdicts: Verdicts) -> None:
    def beside(metric: str, level: str, published: float) -> Beside:
        return Beside(
            study="p", metric=metric, title=metric, unit="ms", level=level, published=published, mean=2 * published,
            mean_low=None, mean_high=None, n=1,
        )  # fmt: skip

    figures = (
        beside("p95", "plain", 24.26),
        beside("p99", "plain", 25.58),
        beside("p95", "proxied", 116.96),
        beside("p99", "proxied", 240.16),
        beside("slowest", "proxied", 1010),
    )
    first, second = claims(verdicts.model_copy(update={"figures": figures})).figures
    assert first.title == "Published, and here: p95 (ms); p99 (ms)"
    assert [[row[place].value for place in first.on_page] for row in first.rows] == [
        ["plain", "24.26", "48.5", "25.58", "51.2"],
        ["proxied", "116.96", "234", "240.16", "480"],
    ]
    assert [row[0].value for row in second.rows] == ["proxied"]


def test_figures_of_several_publications_say_whose_they_are(verdicts: Verdicts) -> None:
    (own,) = verdicts.figures
    figures = [own.model_copy(update={"by": by, "published": cores}) for by, cores in (("one", 0.065), ("two", 2.4))]
    (table,) = claims(verdicts.model_copy(update={"figures": figures})).figures
    rows = [[cell.value for cell in row[:3]] for row in table.rows]
    assert rows == [["placebo: one", "0.065", "1.00"], ["placebo: two", "2.4", "1.00"]]


def test_the_reports_part_is_plain_text_in_rows(verdicts: Verdicts) -> None:
    part = claims(verdicts)
    assert part.counts == "holds here: 2; does not hold here: 1; inconclusive: 2; not tested here: 1"
    assert [(row[0].value, row[2].finding and row[2].finding.word) for row in part.verdicts.rows] == [
        ("P1", "holds here"),
        ("P2", "holds here"),
        ("P3", "does not hold here"),
        ("P4", "inconclusive"),
        ("P5", "not tested here"),
        ("P6", "inconclusive"),
    ]
    counts = {table.title[:2]: len(table.rows) for table in part.comparisons}
    assert counts == {"P1": 2, "P2": 1, "P3": 2, "P4": 1, "P6": 1}
    wanted = [table.rows[0][3].value for table in part.comparisons]
    assert wanted == [
        "higher",
        f"{TIMES}1.50 to {TIMES}2.50",
        "higher",
        f"{MINUS}9.1 % to +10 %",
        f"{TIMES}3.00 to {TIMES}5.00",
    ]
    assert (part.comparisons[4].rows[0][2].interval, part.comparisons[0].rows[0][4].value) == ("", "2.0 %")


def test_the_template_shows_every_row_and_escapes(verdicts: Verdicts) -> None:
    environment = Environment(loader=PackageLoader("lab.report"), autoescape=True, undefined=StrictUndefined)
    html = environment.get_template("sections/claims.html").render(claims=claims(verdicts))
    assert html.partition("<details>")[0].count('<th scope="row">') == 6
    assert html.count("<details>") == 5
    assert "&lt;nothing&gt; &amp; all" in html
    assert "<nothing>" not in html
    assert "a paper of &lt;2024&gt;" in html
    assert DASH not in html
