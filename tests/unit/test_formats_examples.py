"""The JSON and CSV examples of docs/reference/formats.md are what the lab reads and writes."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from lab.analysis.claims.records import read_verdicts
from lab.analysis.collector.capacity import read_model
from lab.analysis.profile.records import ProfileRecord
from lab.backend.backend import record
from lab.engine.archive import CONTENTS, read_contents
from lab.load.traces import COUNTED
from lab.record.combined import Combined
from lab.record.counters import parse_counters, parse_speed, write_targets
from lab.record.data import STREAMS
from lab.record.faults import parse_injections
from lab.record.files import Record, read_json
from lab.record.jmh import read_jmh
from lab.record.requests import parse_requests
from lab.record.results import read_results
from lab.record.search import read_search
from lab.record.slices import read_slices
from lab.record.summary import (
    Estimate,
    Headline,
    LevelSummary,
    MetricSummary,
    Summary,
    TrialSummary,
    read_manifest,
    read_summary,
)
from lab.record.traces import read_collectors, read_exports, read_generator
from lab.record.trial import ContainerRecord, TrialRecord, Window, read_trial_record
from lab.report.courses import course_text, kept_course
from lab.target.mesh.topology import load_topology, resolved
from tests.labs import LAB
from tests.repository import ROOT, tracked

Json = dict[str, Any]

DOCUMENT = (ROOT / "docs" / "reference" / "formats.md").read_text()
JSON_BLOCK = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CSV_BLOCK = re.compile(r"^```\n(# tollbooth\.requests .*?)^```$", re.MULTILINE | re.DOTALL)


def values(text: str) -> Iterator[Json]:
    """Yield the JSON objects of a block, one after the other."""
    decoder, rest = json.JSONDecoder(), text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        yield value
        rest = rest[end:].lstrip()


BLOCKS: dict[str, list[Json]] = {}
for _text in JSON_BLOCK.findall(DOCUMENT):
    _objects = list(values(_text))
    BLOCKS[_objects[0]["format"]] = _objects


def strays(example: object, read: object, path: str = "") -> Iterator[str]:
    """Yield the places where a record that was read does not have what the example has."""
    if isinstance(example, Mapping) and isinstance(read, Mapping):
        for key, value in example.items():
            if key not in read:
                yield f"{path}.{key}"
            else:
                yield from strays(value, read[key], f"{path}.{key}")
    elif isinstance(example, list) and isinstance(read, list) and len(example) == len(read):
        for index, (one, other) in enumerate(zip(example, read, strict=True)):
            yield from strays(one, other, f"{path}[{index}]")
    elif example != read:
        yield f"{path}: {example} is read as {read}"


def written(folder: Path, name: str, example: Json) -> Path:
    path = folder / name
    path.write_text(json.dumps(example))
    return path


def lines(objects: list[Json]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in objects)


def of_model(read: Callable[[Path], BaseModel]) -> Callable[[str, Path], None]:
    """Check an example of a record whose reader returns a model: the model has every field of the example."""

    def check(name: str, folder: Path) -> None:
        (example,) = BLOCKS[name]
        record = read(written(folder, "record.json", example))
        assert list(strays({**example, "format": 0, "version": 0}, {**record.model_dump(mode="json"), **HEAD})) == []

    return check


HEAD = {"format": 0, "version": 0}


def read_combined(path: Path) -> Combined:
    return Combined.model_validate(read_json(path, "tollbooth.combined", 1))


def read_profile(path: Path) -> ProfileRecord:
    return ProfileRecord.model_validate(read_json(path, "tollbooth.profile", 1))


def read_trial_file(path: Path) -> TrialRecord:
    return read_trial_record(path.rename(path.with_name("trial.json")).parent)


def check_manifest(name: str, folder: Path) -> None:
    (example,) = BLOCKS[name]
    written(folder, "manifest.json", example)
    experiment, _ = LAB.recorded(folder)
    assert list(strays(example["spec"], experiment.recorded())) == []
    kept = [read_manifest(path.parent) for path in (ROOT / "docs" / "results").glob("*/manifest.json*")]
    assert kept
    assert {key for manifest in kept for key in manifest} - set(example) <= {"migrated"}


def check_targets(name: str, folder: Path) -> None:
    (example,) = BLOCKS[name]
    path = folder / "targets.json"
    write_targets(path, example["containers"], example["networks"])
    assert json.loads(path.read_text()) == example


def check_counters(name: str, folder: Path) -> None:
    counters = parse_counters(lines(BLOCKS[name]), name)
    by_container = (counters.containers["a1"], counters.jvms["a1"])
    assert all((*by_container, counters.host, counters.observer, counters.events))
    assert [interface.network for interface in counters.interfaces] == ["app"]


def check_faults(name: str, folder: Path) -> None:
    cut_off, packet_loss = parse_injections(lines(BLOCKS[name]), name)
    assert cut_off.injected and cut_off.lifted and packet_loss.rejected


def check_speed(name: str, folder: Path) -> None:
    (thread,) = parse_speed(lines(BLOCKS[name]), name)
    assert len(thread.steps.values) == 1


def check_generator(name: str, folder: Path) -> None:
    (folder / "generator-0.jsonl").write_text(lines(BLOCKS[name]))
    counters = read_generator(folder / "generator-0.jsonl")
    assert set(COUNTED.values()) <= set(counters)
    assert counters["received_spans"].values.tolist() == [440]


def check_collectors(name: str, folder: Path) -> None:
    (folder / "collector.jsonl").write_text(lines(BLOCKS[name]))
    counters = read_collectors(folder / "collector.jsonl")
    assert counters["collector"]["dropped_spans"].values.tolist() == [12]


def check_exports(name: str, folder: Path) -> None:
    (folder / "exports.jsonl").write_text(lines(BLOCKS[name]))
    (_, example), counters = BLOCKS[name], read_exports(folder / "exports.jsonl")
    assert {field: [series.values[0]] for field, series in counters.items()} == {k: [v] for k, v in example.items()}


def check_jmh(name: str, folder: Path) -> None:
    (example,) = BLOCKS[name]
    (run,) = read_jmh(written(folder, "jmh.json", example)).results
    assert (run.name, run.parameters) == (example["results"][0]["benchmark"], example["results"][0]["params"])
    assert run.secondary.keys() == example["results"][0]["secondaryMetrics"].keys()


def check_course(name: str, folder: Path) -> None:
    (example,) = BLOCKS[name]
    kept = STREAMS["course"].read(written(folder, "course.json", example))
    assert json.loads(course_text(kept_course(0, kept))) == example


def check_trace(name: str, folder: Path) -> None:
    (example,) = BLOCKS[name]
    trace = STREAMS["trace"].read(written(folder, "trace.json", example))
    assert record(example["trace_id"], example["spans"]) == trace


def check_bundle(name: str, folder: Path) -> None:
    (example,) = BLOCKS[name]
    path = folder / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(CONTENTS, json.dumps(example))
    assert read_contents(path).model_dump() == example


def check_resolved_topology(name: str, folder: Path) -> None:
    (example,) = BLOCKS[name]
    mesh = resolved(load_topology(ROOT / "experiments" / "topologies" / "mesh.yaml"))
    for kind in ("gateway", "a1"):
        shown, real = example["nodes"][kind], mesh["nodes"][kind]
        assert set(shown) == set(real)
        assert [set(one) for one in shown["operations"].values()] == [
            set(real["operations"][operation]) for operation in shown["operations"]
        ]
    assert {key: mesh[key] for key in ("format", "version")} == {key: example[key] for key in ("format", "version")}


def named_in(*patterns: str) -> Callable[[str, Path], None]:
    """Check an example that no Python model describes: its writer or its reader names each of its keys."""

    def check(name: str, folder: Path) -> None:
        source = "".join(path.read_text() for path in tracked(*patterns))
        for example in BLOCKS[name]:
            assert [key for key in example if f'"{key}"' not in source] == []

    return check


CHECKS: dict[str, Callable[[str, Path], None]] = {
    "tollbooth.resolved-topology": check_resolved_topology,
    "tollbooth.claims-verdicts": of_model(read_verdicts),
    "tollbooth.targets": check_targets,
    "tollbooth.counters": check_counters,
    "tollbooth.load": named_in("internal/load/*.go", "loadgen/ghz/*.go", "loadgen/open-loop/*.go"),
    "tollbooth.generator": check_generator,
    "tollbooth.collector": check_collectors,
    "tollbooth.exports": check_exports,
    "tollbooth.search": of_model(read_search),
    "tollbooth.jmh": check_jmh,
    "tollbooth.speed": check_speed,
    "tollbooth.ready": named_in("services/web/src/main/**.java"),
    "tollbooth.fault": named_in("services/web/src/main/**.java"),
    "tollbooth.fault-taken": named_in("services/web/src/main/**.java"),
    "tollbooth.faults": check_faults,
    "tollbooth.trace": check_trace,
    "tollbooth.course": check_course,
    "tollbooth.results": of_model(read_results),
    "tollbooth.manifest": check_manifest,
    "tollbooth.trial": of_model(read_trial_file),
    "tollbooth.profile": of_model(read_profile),
    "tollbooth.summary": of_model(read_summary),
    "tollbooth.slices": of_model(read_slices),
    "tollbooth.combined": of_model(read_combined),
    "tollbooth.bundle": check_bundle,
    "tollbooth.capacity-model": of_model(read_model),
}


def test_every_example_has_a_check() -> None:
    assert set(BLOCKS) == set(CHECKS)
    assert len(JSON_BLOCK.findall(DOCUMENT)) == len(BLOCKS)


@pytest.mark.parametrize("name", CHECKS)
def test_an_example_is_what_the_lab_reads_and_writes(name: str, tmp_path: Path) -> None:
    CHECKS[name](name, tmp_path)


def test_the_example_of_requests_is_read() -> None:
    (text,) = CSV_BLOCK.findall(DOCUMENT)
    assert len(parse_requests(text, "the example")) == 1


@pytest.mark.parametrize(
    ("model", "example"),
    [
        (TrialRecord, BLOCKS["tollbooth.trial"][0]),
        (Window, BLOCKS["tollbooth.trial"][0]["window"]),
        (ContainerRecord, BLOCKS["tollbooth.trial"][0]["containers"]["a1"]),
        (Summary, BLOCKS["tollbooth.summary"][0]),
        (Headline, BLOCKS["tollbooth.summary"][0]["headline"]),
        (MetricSummary, BLOCKS["tollbooth.summary"][0]["metrics"]["cpu_per_request_services_ms"]),
        (LevelSummary, BLOCKS["tollbooth.summary"][0]["levels"]["otel-agent"]),
        (Estimate, BLOCKS["tollbooth.summary"][0]["estimates"][0]),
        (TrialSummary, BLOCKS["tollbooth.summary"][0]["trials"][0]),
    ],
)
def test_an_example_shows_every_field(model: type[Record], example: Json) -> None:
    assert set(model.model_fields) <= set(example)


@pytest.mark.parametrize("stream", STREAMS)
def test_every_stream_is_described(stream: str) -> None:
    assert f"`{STREAMS[stream].file}`" in DOCUMENT
    assert f"`{stream}`" in DOCUMENT


def test_a_field_of_another_version_is_found(tmp_path: Path) -> None:
    (example,) = BLOCKS["tollbooth.trial"]
    read = read_trial_file(written(tmp_path, "record.json", {**example, "users": 24}))
    assert list(strays({"users": 24, "found": {"users": 25}}, read.model_dump(mode="json"))) == [
        ".users",
        ".found.users: 25 is read as 24.0",
    ]
