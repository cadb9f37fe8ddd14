"""Sidecars: an Envoy in front of every service, its configuration, and its counters.

From a level's `sidecar` text to Envoy's configuration everything is pure: `load` reads the folder envoy/ once,
`parse_mode` understands the text, `files` writes the configurations. `Admin` is the page of a running Envoy.
"""

from lab.target.mesh.sidecars.admin import Admin
from lab.target.mesh.sidecars.configuration import ADMIN_PORT, Side, configuration, files, overlay, sidecar
from lab.target.mesh.sidecars.modes import Mode, parse_mode
from lab.target.mesh.sidecars.nodes import Node, nodes
from lab.target.mesh.sidecars.source import Source, load

__all__ = [
    "ADMIN_PORT",
    "Admin",
    "Mode",
    "Node",
    "Side",
    "Source",
    "configuration",
    "files",
    "load",
    "nodes",
    "overlay",
    "parse_mode",
    "sidecar",
]
