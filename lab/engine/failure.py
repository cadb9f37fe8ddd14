"""The error of a container that ended or never became ready."""

from lab.engine.driver import Driver
from lab.errors import UserError

LAST_LOG_LINES = 8


class StartFailed(UserError):
    """A container ended or never became ready; the hint holds its last log lines."""

    exit_code = 4


def start_failed(driver: Driver, container: str, what: str) -> StartFailed:
    """Return the error with what a container did, and the end of its log."""
    lines = driver.last_log_lines(container, LAST_LOG_LINES)
    shown = "\n".join(f"  | {line}" for line in lines) or "  (its log is empty)"
    return StartFailed(f"container {container} {what}", f"its last log lines:\n{shown}")
