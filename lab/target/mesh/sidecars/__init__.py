"""Sidecars: an Envoy beside every service, what it is told to do, and what it counted.

From a level's `sidecar` text to Envoy's configuration everything is pure: `load` reads the folder envoy/ once,
`parse_mode` understands the text, `files` makes the configurations. `Admin` asks a running Envoy.
"""

from lab.target.mesh.sidecars.admin import Admin
from lab.target.mesh.sidecars.configuration import SIDES, Side, configuration, files
from lab.target.mesh.sidecars.modes import Mode, parse_mode
from lab.target.mesh.sidecars.nodes import Node, nodes
from lab.target.mesh.sidecars.overlay import ADMIN_PORT, overlay, sidecar
from lab.target.mesh.sidecars.source import Source, load
from lab.target.mesh.sidecars.validate import refuse_wrong

__all__ = [
    "ADMIN_PORT",
    "SIDES",
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
    "refuse_wrong",
    "sidecar",
]
