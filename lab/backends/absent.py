"""No backend: the level sends its telemetry nowhere, or makes none."""


class Absent:
    """The `Backend` of a level without one."""

    services: tuple[str, ...] = ()

    def ready(self) -> bool:
        """See `Backend.ready`: nothing to wait for."""
        return True

    def accepted_spans(self) -> int | None:
        """See `Backend.accepted_spans`."""
        return None

    def newest_trace(self) -> dict[str, object] | None:
        """See `Backend.newest_trace`."""
        return None

    def pages(self) -> list[str]:
        """See `Backend.pages`."""
        return []
