"""Prometheus: it scrapes the services, and needs a list of them."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from lab.backend.backend import Backend
from lab.errors import UserError

TARGETS = "prometheus/targets.json"


class Prometheus(Backend):
    """The `Backend` for metrics. It accepts no spans."""

    services = ("prometheus",)
    images = ("prometheus",)
    health = ("PROMETHEUS_PORT", "/-/ready")
    page = ("PROMETHEUS_PORT", "/")

    def files(self, nodes: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
        """See `Backend.files`. The variable SCRAPE has the port and path of a service's metrics: `<port>/<path>`."""
        return {TARGETS: json.dumps(targets(nodes, environment.get("SCRAPE", "")))}

    def counters(self) -> dict[str, float]:
        """See `Backend.counters`: empty until a service was scraped."""
        metrics = metrics_by_service(self.http.get("PROMETHEUS_PORT", "/api/v1/targets/metadata"))
        if not metrics:
            return {}
        return {
            "metrics_per_service": statistics.mean(map(len, metrics.values())),
            "sample_names_per_service": statistics.mean(len(self._sample_names(service)) for service in metrics),
        }

    def _sample_names(self, service: str) -> set[str]:
        """The names of the samples that it keeps of a service (a histogram has several), without those that it adds."""
        selector = quote(f'{{service="{service}"}}')
        answer = self.http.get("PROMETHEUS_PORT", f"/api/v1/label/__name__/values?match[]={selector}")
        return {name for name in json.loads(answer)["data"] if name != "up" and not name.startswith("scrape_")}


def targets(nodes: Iterable[str], scrape: str) -> list[dict[str, object]]:
    """The nodes in the format of Prometheus's file-based service discovery. `scrape`: `9464/metrics`."""
    number, _, path = scrape.partition("/")
    if not number.isdecimal() or not path:
        raise UserError(
            f"the variant's SCRAPE is '{scrape}'; expected the port and path of its metrics",
            "set it under `backends: prometheus:` in its variant.yaml, such as SCRAPE: 9464/metrics",
        )
    return [
        {"targets": [f"{node}:{number}"], "labels": {"service": node, "__metrics_path__": f"/{path}"}} for node in nodes
    ]


def metrics_by_service(metadata: bytes) -> dict[str, set[str]]:
    """Service -> its metrics (a histogram is one), from an answer of `/api/v1/targets/metadata`."""
    found: dict[str, set[str]] = defaultdict(set)
    for described in json.loads(metadata)["data"]:
        found[described["target"]["service"]].add(described["metric"])
    return dict(found)
