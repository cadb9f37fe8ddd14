"""Images as one stream, from the engine and into it, and how large they are together."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

from lab.engine.archive import CHUNK_BYTES, Took, unique_bytes
from lab.engine.image_engine import inspect
from lab.errors import UserError


def saved(references: Sequence[str]) -> Iterator[IO[bytes]]:
    """Yields one stream with the images; raises `UserError` after it if the engine did not send all of it."""
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(["docker", "save", *references], stdout=subprocess.PIPE, stderr=errors) as save:
            assert save.stdout is not None
            yield save.stdout
        _require_success(save.returncode, "save", errors)


def load(source: IO[bytes], took: Took) -> None:
    """Gives a stream of images to the engine; raises `UserError` if it does not take them."""
    command = ["docker", "load", "--quiet"]
    with tempfile.TemporaryFile() as errors:
        # The engine closes the pipe when it has failed: its message says why.
        with (
            contextlib.suppress(BrokenPipeError),
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors) as process,
        ):
            assert process.stdin is not None
            while chunk := source.read(CHUNK_BYTES):
                process.stdin.write(chunk)
                took(len(chunk))
        _require_success(process.returncode, "load", errors)


def size_bytes(references: Sequence[str]) -> int:
    """The bytes of the images' layers, each layer once."""
    found = inspect(references, "[{{json .RootFS.Layers}}, {{.Size}}]")
    return unique_bytes((layers, size) for layers, size in (found[reference] for reference in references))


def _require_success(code: int, what: str, errors: IO[bytes]) -> None:
    if code:
        errors.seek(0)
        *_, last = ["", *errors.read().decode(errors="replace").splitlines()]
        raise UserError(f"the engine did not {what} the images", last)
