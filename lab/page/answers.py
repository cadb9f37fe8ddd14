"""What the page answers: a status, a type, a body; and errors that are one sentence."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JSON = "application/json"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """An answer. `headers`: in place of those that all answers have."""

    status: int
    type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Wrong(Exception):
    """Something that is answered with an error's status. `more`: what its JSON holds besides."""

    def __init__(self, status: int, error: str, more: Mapping[str, Any] | None = None) -> None:
        super().__init__(error)
        self.status = status
        self.error = error
        self.more = more or {}

    def answer(self) -> Answer:
        """Return the answer that says it."""
        return json_answer({"error": self.error, **self.more}, self.status)


def json_answer(data: Mapping[str, Any], status: int = 200) -> Answer:
    """Return data as an answer. Raises `ValueError` for a number that JSON does not have."""
    return Answer(status, JSON, json.dumps(data, allow_nan=False).encode())
