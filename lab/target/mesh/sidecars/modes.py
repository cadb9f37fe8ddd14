"""What a level's `sidecar` means: `none`, `passthrough`, or patterns joined with "+"."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from lab.record import NO_SIDECAR, PASSTHROUGH, WITHOUT_PATTERNS
from lab.spec import Problem, SpecError, suggestion
from lab.target.mesh.sidecars.nodes import ProtocolName
from lab.target.mesh.sidecars.source import Pattern, conflicts


@dataclass(frozen=True)
class Mode:
    """`proxied`: services have sidecars. `patterns`: what these do, as names in order."""

    proxied: bool
    patterns: tuple[str, ...] = ()


def parse_mode(text: str, patterns: Mapping[str, Pattern]) -> Mode:
    """Return what a level's `sidecar` means. Raises `SpecError` for unknown names and contradictions."""
    words = text.split("+")
    if problems := list(_wrong_words(words, patterns)):
        raise SpecError(problems)
    if words[0] in WITHOUT_PATTERNS:
        return Mode(proxied=words[0] == PASSTHROUGH)
    sets = named_sets(patterns)
    names = sorted({name for word in words for name in sets.get(word, (word,))})
    if problems := list(_contradictions(names, patterns)):
        raise SpecError(problems)
    return Mode(proxied=True, patterns=tuple(names))


def named_sets(patterns: Mapping[str, Pattern]) -> dict[str, tuple[str, ...]]:
    """The names of sets of patterns (`published`, `all`, ..), with their patterns."""
    return {
        mode: tuple(name for name, pattern in patterns.items() if mode in pattern.modes)
        for mode in sorted({mode for pattern in patterns.values() for mode in pattern.modes})
    }


def _wrong_words(words: Sequence[str], patterns: Mapping[str, Pattern]) -> Iterator[Problem]:
    known = [NO_SIDECAR, PASSTHROUGH, *named_sets(patterns), *patterns]
    for word in words:
        if word not in known:
            yield Problem((), f"unknown sidecar mode '{word}'; {suggestion(word, known)}")
        elif word in WITHOUT_PATTERNS and len(words) > 1:
            yield Problem((), f"'{word}' means no pattern and cannot be joined with others")


def _contradictions(names: Sequence[str], patterns: Mapping[str, Pattern]) -> Iterator[Problem]:
    return (
        Problem((), f"'{one}' and '{other}' contradict each other: each sets {path}; choose one of them")
        for one, other in itertools.combinations(names, 2)
        if (path := contradiction(patterns[one], patterns[other]))
    )


def contradiction(one: Pattern, other: Pattern) -> str | None:
    """The first setting on which two patterns disagree; None if they can be joined."""
    protocols: tuple[ProtocolName, ...] = get_args(ProtocolName)
    return next(
        (path for protocol in protocols for path in conflicts(one.added(protocol), other.added(protocol))), None
    )
