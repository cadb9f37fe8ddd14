"""Envoy itself takes every configuration that the lab can make of envoy/."""

import itertools
import json
from typing import get_args

import pytest
import yaml

from lab.command import paths
from lab.engine import images
from lab.engine.envoy_check import reject_invalid
from lab.errors import UserError
from lab.record.trial import PASSTHROUGH
from lab.target.guarded import guarded
from lab.target.mesh.sidecars import Node, Side, files, load, parse_mode
from lab.target.mesh.sidecars.modes import contradiction, named_sets
from lab.target.proxy import configuration as proxies

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(300)]

SIDES: tuple[Side, ...] = get_args(Side)
SOURCE = load(paths.ROOT / "envoy")
MODES = [PASSTHROUGH, *named_sets(SOURCE.patterns), *SOURCE.patterns]
NODES = [
    Node(f"{protocol}-{'entry' if entry else 'inner'}", protocol, entry, {"a1": "rest", "s2": "grpc"})
    for protocol in ("rest", "grpc")
    for entry in (True, False)
]


@pytest.fixture(scope="module")
def image() -> str:
    images.ensure(["envoy"], print)
    return images.references(["envoy"])["envoy"]


def named(prefix: str, nodes: list[Node], mode: str, side: Side, faults: bool) -> dict[str, str]:
    made = files(SOURCE, nodes, parse_mode(mode, SOURCE.patterns), side, faults)
    return {f"{prefix}/{path}": text for path, text in made.items()}


def test_every_mode_on_every_side_for_every_kind(image: str) -> None:
    texts: dict[str, str] = {}
    for mode, side in itertools.product(MODES, SIDES):
        texts |= named(f"{mode}-{side}", NODES, mode, side, faults=mode in (PASSTHROUGH, "all"))
    assert len(texts) == len(MODES) * len(SIDES) * len(NODES)
    reject_invalid(texts, image)


def test_what_runs_is_guarded_in_every_mode(image: str) -> None:
    texts: dict[str, str] = {}
    for mode in MODES:
        texts |= guarded(named(f"{mode}-guarded", NODES, mode, "both", faults=mode == "all"), paths.ROOT)
    proxy = proxies.load(paths.ROOT / "envoy/proxy")
    texts |= guarded({"proxy/envoy.json": json.dumps(proxy.bootstrap)}, paths.ROOT)
    reject_invalid(texts, image)


def test_every_pair_of_patterns_that_go_together(image: str) -> None:
    # On both sides of the entry everything is somewhere.
    entries, texts = [node for node in NODES if node.entry], dict[str, str]()
    for one, other in itertools.combinations(SOURCE.patterns, 2):
        if contradiction(SOURCE.patterns[one], SOURCE.patterns[other]) is None:
            texts |= named(f"{one}+{other}", entries, f"{one}+{other}", "both", faults=True)
    assert texts
    reject_invalid(texts, image)


def test_the_static_files_are_valid_by_themselves(image: str) -> None:
    names = ("inbound", "outbound")
    texts = {name: yaml.safe_load((paths.ROOT / "envoy" / f"{name}.yaml").read_text()) for name in names}
    reject_invalid({f"{name}.json": json.dumps(text) for name, text in texts.items()}, image)


def test_envoys_own_message_is_shown(image: str) -> None:
    texts = {"good/s1.json": "{}", "odd/s1.json": '{"static_resources": {"clutsers": []}}'}
    with pytest.raises(UserError, match=r"Envoy rejects the configuration odd/s1.json: .*no such field: 'clutsers'"):
        reject_invalid(texts, image)
