"""No backend: the level sends no telemetry."""

from lab.backend.backend import Backend


class Absent(Backend):
    """The `Backend` of a level without one."""

    services = ()
    images = ()
