"""The running system and its controls, with a version: who changes something names the version that was seen."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lab.command.choice import chosen
from lab.command.held_fault import BEGINS_WITHIN_S, LASTS_S
from lab.command.running import Running
from lab.errors import UserError
from lab.page.answers import Wrong
from lab.page.changes import Change, words_of
from lab.page.known import FAULT, Known
from lab.spec import NO_FAULT, Control, Settings, suggestion

Phase = Literal["down", "starting", "up", "changing", "failed"]

# A start takes less, from its record on.
STARTS_WITHIN_S = 300.0
DOWN = "no system runs: `make up` starts it"
BROKEN_OFF = "a start was broken off: `make up` begins again, `make down` removes what is left"
GONE = "its containers do not run: `make up` starts them again"
LEFT = "the process that held the fault has ended: the system starts again without the fault"
WHY_NOT = {
    "starting": "the system is starting: wait until it is up",
    "changing": "the system is changing: wait until it is up",
    "down": DOWN,
    "failed": "the system does not run: `make up` starts it",
}


class World(Protocol):
    """What the state depends on."""

    def running(self) -> Running | None:
        """Return the record of the running system. Raises `UserError` for that of another version."""

    def age_s(self) -> float:
        """Return how long ago the record was written."""

    def known(self, running: Running) -> Known:
        """Return what is known of a system."""

    def gone(self, running: Running) -> bool:
        """Whether its containers do not run."""

    def fault_left(self) -> bool:
        """Whether a fault is in force that no process holds."""

    def begin(self, words: Sequence[str], variables: Mapping[str, str]) -> Change:
        """Begin a change."""

    def now_s(self) -> float:
        """Return Unix time."""


@dataclass(frozen=True)
class View:
    """The state at one moment. `known`: None where no system runs."""

    version: int
    phase: Phase
    message: str | None
    known: Known | None
    settings: Settings
    fault_expires_unix_s: float | None

    def shown(self) -> dict[str, Any]:
        """Return it as the page has it."""
        known = self.known
        switched = controls(known, self.settings) if known else []
        return {
            "version": self.version,
            "phase": self.phase,
            "message": self.message,
            "choice": _choice(known, self.settings) if known else None,
            "controls": [_control(one, known, self.settings) for one in switched] if known else [],
            "links": _links(known) if known and self.phase == "up" else [],
            "fault_expires_unix_s": self.fault_expires_unix_s,
        }


class State:
    """The one state of the page. Its methods may be called from several threads."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._lock = threading.Lock()
        self._version = 0
        self._seen: object = None
        self._change: Change | None = None
        self._was_up = False
        # Why the last change failed, and what ran then.
        self._failure: tuple[str, str | None] | None = None
        self._lifted_of = ""

    def view(self) -> View:
        """Return the state now."""
        with self._lock:
            return self._view()

    def change(self, version: object, wanted: object) -> View:
        """Begin a change of some settings. Raises `Wrong`: 409 for another version, 503 where nothing is up, 400."""
        with self._lock:
            view = self._view()
            if type(version) is not int:
                raise Wrong(400, "`version` is the number of the state that was seen")
            if version != view.version:
                raise Wrong(409, "the state has changed since: look at it again", {"state": view.shown()})
            if view.phase != "up" or view.known is None:
                raise Wrong(503, WHY_NOT[view.phase])
            self._begin(view.known, {**view.settings, **checked(wanted, controls(view.known, view.settings))})
            return self._view()

    def lift_left(self) -> None:
        """Start the system again without its fault where the process that held it was killed."""
        with self._lock:
            view = self._view()
            if view.phase != "up" or view.known is None or view.known.of.id == self._lifted_of:
                return
            begun_s = view.known.of.fault_until_s - LASTS_S
            if begun_s > 0 and self.world.now_s() > begun_s + BEGINS_WITHIN_S and self.world.fault_left():
                self._lifted_of = view.known.of.id
                self._begin(view.known, {**view.settings, FAULT: NO_FAULT})
                self._failure = (LEFT, None)

    def _begin(self, known: Known, settings: Settings) -> None:
        words = known.example.switches.words(settings)
        try:
            chosen(known.lab, known.kind, words, settings[FAULT])
        except UserError as wrong:
            raise Wrong(400, wrong.message) from None
        variables = {name: str(number) for name, number in known.of.ports.items()}
        self._change = self.world.begin(words_of(known.kind, words, settings[FAULT]), variables)
        self._failure = None

    def _view(self) -> View:
        try:
            now = self.world.running()
            phase, message = self._phase(now)
        except UserError as wrong:
            now, phase, message = None, "failed", f"{wrong.message}: {wrong.hint}"
        now_s = self.world.now_s()
        known = self.world.known(now) if now else None
        settings = known.settings(now_s) if known else {}
        expires_s = now.fault_until_s if now and now_s < now.fault_until_s else None
        seen = phase, now.id if now else None, expires_s
        if seen != self._seen:
            self._seen, self._version = seen, self._version + 1
        return View(self._version, phase, message, known, settings, expires_s)

    def _phase(self, now: Running | None) -> tuple[Phase, str | None]:
        if self._change and self._change.running():
            return "changing", self._failure[0] if self._failure else None
        id_ = now.id if now else None
        if self._change:
            error = self._change.error()
            self._change, self._failure = None, (error, id_) if error else None
        if self._failure and self._failure[1] != id_:
            self._failure = None
        failure = self._failure[0] if self._failure else None
        if now is None:
            self._was_up = False
            return ("failed", failure) if failure else ("down", DOWN)
        if not now.ready:
            late = failure or (BROKEN_OFF if self.world.age_s() > STARTS_WITHIN_S else None)
            if late:
                return "failed", late
            return "changing" if self._was_up else "starting", None
        self._was_up = True
        return ("failed", GONE) if self.world.gone(now) else ("up", failure)


def controls(known: Known, settings: Settings) -> list[Control]:
    """Return what can be switched: the target's controls, and its faults. None of a target without controls."""
    own = [*known.example.switches.controls(settings)]
    faults = known.example.faults(known.experiment.baseline_level())
    return [*own, Control(FAULT, "Fault, for 10 minutes", (NO_FAULT, *faults))] if own else []


def checked(wanted: object, known: Sequence[Control]) -> Settings:
    """Return settings that were requested. Raises `Wrong` for anything that the controls do not list."""
    if not isinstance(wanted, dict) or not wanted:
        raise Wrong(400, "`settings` names at least one control and its value")
    by_name = {control.name: control for control in known}
    for name, value in wanted.items():
        if name not in by_name:
            raise Wrong(400, f"there is no control '{name}'; {suggestion(name, by_name)}")
        if not isinstance(value, str | int | float) or str(value) not in by_name[name].values:
            raise Wrong(400, f"'{value}' is no value of {name}; {suggestion(str(value), by_name[name].values)}")
    return {name: str(value) for name, value in wanted.items()}


def _choice(known: Known, settings: Settings) -> dict[str, Any]:
    switches = known.example.switches
    sampling = settings.get("sampling") if switches.sampled(settings) else None
    shown = {name: value for name, value in settings.items() if name != "load"}
    return {**shown, "sampling": sampling, "load_per_s": switches.per_s(settings)}


def _control(control: Control, known: Known, settings: Settings) -> dict[str, Any]:
    return {
        "name": control.name,
        "label": control.label,
        "values": list(control.values),
        "value": settings[control.name],
        "command": command(control.name, known, settings),
    }


def command(name: str, known: Known, settings: Settings) -> str:
    """Return what to type for another value of a control, with %s in its place: `make up` goes back to the defaults."""
    templates = {**known.example.switches.make(settings), FAULT: f"{FAULT.upper()}=%s"}
    others = [
        template % settings[one]
        for one, template in templates.items()
        if one != name and settings[one] != known.defaults[one]
    ]
    return " ".join(["make up", *others, templates[name]])


def _links(known: Known) -> list[dict[str, str]]:
    try:
        return known.links
    except (UserError, OSError):
        return []
