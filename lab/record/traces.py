"""What is logged of traces, by the generator, by the scraper of Collectors (observer/scraper), and by looking them up.

Of a proxy it is the exports of its spans.
A load of half an hour leaves millions of traces, so they are read as columns.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from lab.errors import UserError
from lab.record.counters import Fields, SampledFields
from lab.record.files import FIX_HINT, VERSION_HINT, complete_lines, json_lines, json_object, read_text

TRACES_FIRST_LINE = "# tollbooth.traces v1"
LOOKUPS_FIRST_LINE = "# tollbooth.lookups v1"
TRACES_COLUMNS: dict[str, type[pl.DataType]] = {
    "trace_id": pl.String,
    "worker": pl.Int32,
    "number": pl.Int64,
    "outcome": pl.Categorical,
    "code": pl.Int32,
    "spans": pl.Int32,
    "spans_sent": pl.Int32,
    "spans_received": pl.Int32,
    "span_duration_ms": pl.Int32,
    "attributes": pl.Int32,
    "attribute_bytes": pl.Int32,
    "clients": pl.Int32,
    "risky": pl.Int8,
    "error": pl.Int8,
    "waited_ns": pl.Int64,
    "intended_ns": pl.Int64,
    "loop_after_ns": pl.Int64,
    "send_start_after_ns": pl.Int64,
    "send_end_after_ns": pl.Int64,
    "receive_start_after_ns": pl.Int64,
    "receive_end_after_ns": pl.Int64,
    "logged_after_ns": pl.Int64,
}
"""`<name>_after_ns`: after `intended_ns`; null where it did not happen."""
SENT = pl.col("intended_ns") + pl.coalesce("send_start_after_ns", pl.when(pl.col("outcome") == "send error").then(0))
"""When a trace was sent. One that was due while too many requests were under way was not: it counts when it was due."""
RETURNED = pl.col("intended_ns") + pl.col("receive_end_after_ns")
LOGGED = pl.col("intended_ns") + pl.col("logged_after_ns")
SEND_MS = (pl.col("send_end_after_ns") - pl.col("send_start_after_ns")) / 1e6
"""From the start of a request to its answer."""
RECEIVE_MS = (pl.col("receive_end_after_ns") - pl.col("send_end_after_ns")) / 1e6
"""From the answer to the last span that came back."""
ROUND_TRIP_MS = (pl.col("receive_end_after_ns") - pl.col("send_start_after_ns")) / 1e6
"""From the start of a request to the last span that came back, which may be before the answer."""
ACCEPTED = pl.col("outcome").cast(pl.String).is_in(("success", "receive timeout"))
"""What the target accepted. How long it takes to reject a trace says nothing of this; nor does a load's end."""
COMPLETE = pl.col("outcome") == "success"
UNSENT = pl.col("outcome").cast(pl.String).is_in(("send timeout", "send error"))
"""What was not accepted."""
LOOKUPS_COLUMNS: dict[str, type[pl.DataType]] = {"trace_id": pl.String, "spans_found": pl.Int32}


def read_traces(path: Path) -> pl.DataFrame:
    """Read `traces-<n>.csv`: a row for each trace, with `TRACES_COLUMNS`."""
    return _columns(path, TRACES_FIRST_LINE, TRACES_COLUMNS)


def read_lookups(path: Path) -> pl.DataFrame:
    """Read `lookups.csv`: a row for each trace that was looked up by its ID, with `LOOKUPS_COLUMNS`."""
    return _columns(path, LOOKUPS_FIRST_LINE, LOOKUPS_COLUMNS)


def write_lookups(folder: Path, found: Mapping[str, int]) -> None:
    """Write how many spans were found of each trace to a trial's folder."""
    lines = [LOOKUPS_FIRST_LINE, ",".join(LOOKUPS_COLUMNS), *(f"{one},{count}" for one, count in found.items())]
    (folder / "lookups.csv").write_text("".join(f"{line}\n" for line in lines))


def read_generator(path: Path) -> Fields:
    """Read `generator-<n>.jsonl`: the generator's own counters, a series for each."""
    return _sampled(path, "tollbooth.generator", "a reading of the generator")


def read_exports(path: Path) -> Fields:
    """Read `exports.jsonl`: a proxy's counters while its runtime changed, a series for each."""
    return _sampled(path, "tollbooth.exports", "a reading of a proxy")


def read_collectors(path: Path) -> Mapping[str, Fields]:
    """Read `collector.jsonl`: for each Collector a series for each of its counters.

    A scrape that failed has `failed_scrapes` only. A gauge that the Collector does not show has no sample.
    """
    samples: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def take(data: dict[str, Any]) -> None:
        data["t_ns"] + 0
        samples[data["name"]].append(data)

    json_lines(read_text(path), str(path), "tollbooth.collector", 1, "a reading of a Collector", take)
    return {name: SampledFields(of_one) for name, of_one in samples.items()}


def newest_scrape_ns(path: Path) -> int:
    """Return when a Collector was last scraped, by a record that is still written; 0 before the first time."""
    lines = complete_lines(path.read_text())[0][1:] if path.exists() else []
    return int(json_object(lines[-1], str(path))["t_ns"]) if lines else 0


def _sampled(path: Path, format_name: str, what: str) -> Fields:
    samples: list[dict[str, Any]] = []

    def take(data: dict[str, Any]) -> None:
        data["t_ns"] + 0
        samples.append(data)

    json_lines(read_text(path), str(path), format_name, 1, what, take)
    return SampledFields(samples)


def _columns(path: Path, first_line: str, columns: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    data = path.read_bytes() if path.exists() else read_text(path).encode()
    header = f"{first_line}\n{','.join(columns)}\n".encode()
    if not data.startswith(header):
        raise UserError(f"{path} does not begin with '{first_line}' and its header", VERSION_HINT)
    if len(data) == len(header):
        return pl.DataFrame(schema=columns)
    try:
        return pl.read_csv(data[len(header) :], has_header=False, new_columns=[*columns], schema=columns)
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{path}: {str(error).splitlines()[0]}", FIX_HINT) from error
