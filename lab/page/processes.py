"""The commands whose processes outlive the command that began them."""

import typer

from lab.analysis.lab import Lab
from lab.command import held_fault, serving


def app_of(lab: Lab) -> typer.Typer:
    """Return the commands, for the targets of `lab`."""
    app = typer.Typer()

    @app.command(name=serving.COMMAND, epilog="Example: PAGE_PORT=9000 lab page")
    def page() -> None:
        """Serves the page of the system that runs. `lab up` does this by itself, `lab down` ends it."""
        from lab.page.serve import serve  # noqa: PLC0415  # What it needs takes long to load.

        serve(lab)

    @app.command(name=held_fault.COMMAND, hidden=True)
    def hold_fault(id_: str) -> None:
        """Holds the fault of a system that `lab up` started."""
        held_fault.hold(lab, id_)

    return app
