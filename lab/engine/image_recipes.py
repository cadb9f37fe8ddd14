"""The table of the lab's images, and what follows from it without an engine."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.errors import UserError

DIGEST_LABEL = "org.tollbooth.inputs"
NOT_INPUTS = frozenset({"target", "README.md"})


@dataclass(frozen=True)
class Image:
    """How one image is made. Paths are relative to the repository's root.

    `version` names a variable of `.env`, or is "" for the lab's own images. `bases` maps build arguments to images.
    `inputs` are the files and folders that a build reads. `stage` is a stage of the Dockerfile, if not its last one.
    """

    inputs: tuple[str, ...]
    context: str = ""
    dockerfile: str = ""
    version: str = ""
    official: str = ""
    script: str = ""
    bases: Mapping[str, str] = field(default_factory=dict)
    stage: str = ""


def _from_folder(name: str, variable: str, bases: Mapping[str, str], official: str = "") -> Image:
    folder = f"images/{name}"
    return Image((folder,), folder, f"{folder}/Dockerfile", variable, official, bases=bases)


def _from_go(folder: str, *others: str, variable: str = "", **bases: str) -> Image:
    """One of the lab's Go programs: its folder has its Dockerfile. `others`: what this copies besides Go sources."""
    return Image(
        ("go.mod", "go.sum", "internal", folder, *others),
        ".",
        f"{folder}/Dockerfile",
        variable,
        bases={"TOOLCHAIN": "toolchain-go", **bases},
    )


TABLE: dict[str, Image] = {
    "debian": Image(
        ("images/debian",), version="DEBIAN_RELEASE", official="debian:{}-slim", script="images/debian/build.sh"
    ),
    "toolchain-go": _from_folder("toolchain-go", "DEBIAN_RELEASE", {"BASE": "debian"}),
    "toolchain-java": _from_folder("toolchain-java", "DEBIAN_RELEASE", {"BASE": "debian"}),
    "jre": _from_folder("jre", "DEBIAN_RELEASE", {"BASE": "debian"}),
    "jaeger": _from_folder("jaeger", "JAEGER_VERSION", {"TOOLCHAIN": "toolchain-go"}, "jaegertracing/jaeger:{}"),
    "collector": Image(
        ("images/collector", "collector/go.mod", "collector/go.sum", "collector/main.go", "collector/release.go"),
        "collector",
        "images/collector/Dockerfile",
        "COLLECTOR_VERSION",
        "otel/opentelemetry-collector-contrib:{}",
        bases={"TOOLCHAIN": "toolchain-go"},
    ),
    "collector-earlier": Image(
        ("images/collector", "collector/main.go", "collector/earlier"),
        "collector",
        "images/collector/Dockerfile",
        "COLLECTOR_EARLIER_VERSION",
        "otel/opentelemetry-collector-contrib:{}",
        bases={"TOOLCHAIN": "toolchain-go"},
    ),
    "telemetrygen": _from_folder("telemetrygen", "TELEMETRYGEN_VERSION", {"TOOLCHAIN": "toolchain-go"}),
    "zipkin": _from_folder(
        "zipkin", "ZIPKIN_VERSION", {"TOOLCHAIN": "toolchain-java", "JRE": "jre"}, "openzipkin/zipkin:{}"
    ),
    "prometheus": _from_folder("prometheus", "PROMETHEUS_VERSION", {"BASE": "debian"}, "prom/prometheus:v{}"),
    "python": _from_folder("python", "DEBIAN_RELEASE", {"BASE": "debian"}),
    "locust": _from_folder("locust", "LOCUST_VERSION", {"BASE": "python"}, "locustio/locust:{}"),
    "visitors": _from_folder("visitors", "DEBIAN_RELEASE", {"BASE": "python"}),
    "envoy": _from_folder("envoy", "ENVOY_VERSION", {"BASE": "debian"}, "envoyproxy/envoy:v{}"),
    # Earlier releases of Envoy.
    **{
        f"envoy-{release}": _from_folder(
            "envoy", f"ENVOY_{release.replace('.', '_')}_VERSION", {"BASE": "debian"}, "envoyproxy/envoy:v{}"
        )
        for release in ("1.36", "1.37", "1.38", "1.39")
    },
    "nettools": _from_folder("nettools", "DEBIAN_RELEASE", {"BASE": "debian"}),
    "services": Image(
        ("services",), "services", "services/Dockerfile", bases={"TOOLCHAIN": "toolchain-java", "JRE": "jre"}
    ),
    # What the services' and the telemetry's parts cost, each in one JVM.
    "benchmarks": Image(
        ("services",),
        "services",
        "services/Dockerfile",
        bases={"TOOLCHAIN": "toolchain-java", "JRE": "jre"},
        stage="benchmarks",
    ),
    # One module of services/, whose pom.xml it needs. Changes of the other modules do not change it.
    "exporter-model": Image(
        ("services/exporter-model", "services/pom.xml", "services/.mvn"),
        "services",
        "services/exporter-model/Dockerfile",
        bases={"TOOLCHAIN": "toolchain-java", "JRE": "jre"},
    ),
    "observer": _from_go("observer"),
    "sink": _from_go("sink"),
    "testserver": _from_go("testserver"),
    "spinner": _from_go("spinner", BASE="debian"),
    "ghz": _from_go("loadgen/ghz", "services/svc-b/src/main/proto", variable="GHZ_VERSION"),
    "fortio": _from_go("loadgen/fortio", variable="FORTIO_VERSION"),
    "open-loop": _from_go("loadgen/open-loop"),
    "traces": _from_go("loadgen/traces"),
}

# Seconds that a build takes on two cores. They decide the order of builds; all others count as quick.
BUILD_S = {
    "jaeger": 270,
    "collector": 180,
    "collector-earlier": 150,
    "services": 100,
    "benchmarks": 60,
    "traces": 60,
    "ghz": 60,
    "fortio": 40,
    "exporter-model": 40,
    "zipkin": 60,
    "locust": 35,
    "toolchain-java": 30,
}
QUICK_BUILD_S = 20


def build_s_left(name: str, graph: Mapping[str, set[str]]) -> int:
    """Seconds from the start of a build to the end of the last one based on it. `graph`: image -> its bases."""
    based_on_it = [build_s_left(other, graph) for other, bases in graph.items() if name in bases]
    return BUILD_S.get(name, QUICK_BUILD_S) + max(based_on_it, default=0)


def read_versions(text: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an `.env` file; the environment wins, as it does for Compose."""
    lines = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {name.strip(): environment.get(name.strip()) or value.strip() for name, _, value in lines}


def reference(name: str, pinned: Mapping[str, str]) -> str:
    """`tollbooth/<name>:<version>`."""
    return f"tollbooth/{name}:{version(name, pinned)}"


def with_bases(names: Iterable[str]) -> list[str]:
    """`names` and every image that they are built from, bases first."""
    return list(dict.fromkeys(one for name in names for one in (*with_bases(TABLE[name].bases.values()), name)))


def wanted_digests(root: Path, pinned: Mapping[str, str]) -> dict[str, str]:
    """For every image a digest of its inputs' paths and content, its version and its bases' digests."""
    digests: dict[str, str] = {}
    for name in with_bases(TABLE):
        image, content = TABLE[name], hashlib.sha256(version(name, pinned).encode())
        for base in image.bases.values():
            content.update(digests[base].encode())
        for path in sorted(_files(root, image.inputs)):
            content.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode())
            content.update(path.read_bytes())
        digests[name] = content.hexdigest()
    return digests


def build_command(name: str, digest: str, pinned: Mapping[str, str], root: Path, secret: Iterable[str]) -> list[str]:
    """The command that builds an image; `secret` is what `ca_bundle_secret` gave."""
    if TABLE[name].script:
        return [str(root / TABLE[name].script), reference(name, pinned), version(name, pinned)]
    return [
        *("docker", "build", "--tag", reference(name, pinned), "--label", f"{DIGEST_LABEL}={digest}"),
        *(("--target", TABLE[name].stage) if TABLE[name].stage else ()),
        *_build_options(name, pinned, root, secret),
    ]


def stage_command(name: str, pinned: Mapping[str, str], root: Path, secret: Iterable[str]) -> list[str]:
    """The command that runs the tests of an image's sources: its Dockerfile's stage `test`."""
    return [
        *("docker", "build", "--target", "test", "--tag", f"tollbooth/{name}:test"),
        *_build_options(name, pinned, root, secret),
    ]


def _build_options(name: str, pinned: Mapping[str, str], root: Path, secret: Iterable[str]) -> list[str]:
    image = TABLE[name]
    arguments = {argument: reference(base, pinned) for argument, base in image.bases.items()}
    if image.version:
        arguments["VERSION"] = version(name, pinned)
    return [
        "--progress=plain",
        *(word for argument, value in arguments.items() for word in ("--build-arg", f"{argument}={value}")),
        *secret,
        *("--file", str(root / image.dockerfile), str(root / image.context)),
    ]


def ca_bundle_secret(environment: Mapping[str, str]) -> list[str]:
    """The build option with the host's CA bundle: `$CA_BUNDLE`, otherwise `$SSL_CERT_FILE` if it exists."""
    chosen, usual = environment.get("CA_BUNDLE", ""), environment.get("SSL_CERT_FILE", "")
    if chosen and not Path(chosen).is_file():
        raise UserError(f"CA_BUNDLE={chosen} is not a file", "set it to a PEM bundle, or unset it")
    path = chosen or (usual if usual and Path(usual).is_file() else "")
    return ["--secret", f"id=ca-bundle,src={path}"] if path else []


def version(name: str, pinned: Mapping[str, str]) -> str:
    """The image's version: from `pinned`, or "dev" for the lab's own images."""
    return pinned[TABLE[name].version] if TABLE[name].version else "dev"


def _files(root: Path, inputs: Iterable[str]) -> Iterable[Path]:
    for start in (root / name for name in inputs):
        if start.is_file():
            yield start
        for folder, folders, files in os.walk(start):
            folders[:] = [name for name in folders if name not in NOT_INPUTS]
            yield from (Path(folder, name) for name in files if name not in NOT_INPUTS)
