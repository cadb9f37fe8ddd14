"""No backend: the level sends its telemetry nowhere, or makes none."""

from lab.backends.backend import Backend


class Absent(Backend):
    """The `Backend` of a level without one."""

    services = ()
    images = ()

    def ready(self) -> bool:
        """See `Backend.ready`: nothing to wait for."""
        return True
