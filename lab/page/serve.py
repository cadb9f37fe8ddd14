"""Serves the page until it is no longer on record."""

import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from lab.analysis.lab import Lab
from lab.command import paths, serving
from lab.command.exploring import FOLDER
from lab.command.serving import Serving
from lab.engine import OBSERVER
from lab.page.live import COUNTERS, Live
from lab.page.runs import Runs
from lab.page.server import Server
from lab.page.site import Site
from lab.page.state import State, View
from lab.page.world import ThisMachine

ASSETS = Path(__file__).parent / "assets"
TICK_S = 1.0
TOKEN_BYTES = 32
# The observer writes some 10 kB a second. It begins its file anew when it starts.
MOST_BYTES = 64 << 20


def serve(lab: Lab) -> None:
    """Serves the page; returns when `lab down` ended it, or Ctrl-C. Raises `UserError` if its port is in use."""
    live = Live(FOLDER)
    state = State(ThisMachine(lab, live.fresh))
    site = Site(state, live, Runs(paths.RESULTS, paths.ROOT), ASSETS)
    record = Serving(token=secrets.token_hex(TOKEN_BYTES), port=serving.port())
    try:
        server = Server(record.port, record.token, site.find)
    except OSError:
        raise serving.in_use(record.port) from None
    with server, serving.on_record(record) as current:
        thread = threading.Thread(target=server.serve_forever, name="page", daemon=True)
        thread.start()
        try:
            ticking(state, live, current)
        except KeyboardInterrupt:
            pass
        finally:
            server.shutdown()
            thread.join()


def ticking(state: State, live: Live, current: Callable[[], bool]) -> None:
    """Keeps figures up to date, and lifts faults that were left, until the page is no longer on record."""
    said = ""
    while current():
        try:
            view = state.view()
            live.tick(view)
            state.lift_left()
            shorten(view, FOLDER / COUNTERS)
        except Exception as failed:
            # The page outlives the engine, containers and files that it looks at: the next look may find them.
            if repr(failed) != said:
                said = repr(failed)
                traceback.print_exc(file=sys.stderr)
        time.sleep(TICK_S)


def shorten(view: View, counters: Path, most_bytes: int = MOST_BYTES) -> None:
    """Starts the observer again where its record has become long."""
    if view.known is not None and view.phase == "up" and counters.exists() and counters.stat().st_size > most_bytes:
        view.known.engine.stop([OBSERVER])
        view.known.engine.start([OBSERVER])
