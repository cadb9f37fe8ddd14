"""What became of a claim at each tested number that its publication does not state (in `claims.json`)."""

from pydantic import Field

from lab.record import Record


class Swept(Record):
    """The `number` of `what` at which `metric` has the `published` value, and the verdict at each tested number.

    `number`, `low` and `high` are None where no tested number gives that value, or too few blocks say so.
    `blocks_without`: those that do not reach the value at any tested number. With one, there is no verdict at `number`.
    """

    what: str
    metric: str
    published: float
    number: float | None
    low: float | None
    high: float | None
    verdicts: tuple[tuple[float, str], ...]
    blocks_without: int = Field(default=0, exclude_if=lambda count: count == 0)
