"""The new lines of a file that is still written: each read begins where the last one ended."""

from pathlib import Path

# What is read at most at once: of a longer file, its end.
MOST_BYTES = 1 << 20


class Tail:
    """The end of the file at `path`, which may come, be replaced, or begin anew."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self.most_bytes = most_bytes
        self._file: tuple[int, int] = (0, 0)
        self._read_bytes = 0

    def lines(self) -> list[str]:
        """Return the complete lines that were written since the last call; none without a file."""
        try:
            with self.path.open("rb") as file:
                stat = self.path.stat()
                if (stat.st_dev, stat.st_ino) != self._file or stat.st_size < self._read_bytes:
                    self._file, self._read_bytes = (stat.st_dev, stat.st_ino), 0
                begin = max(self._read_bytes, stat.st_size - self.most_bytes)
                file.seek(begin)
                found = file.read(stat.st_size - begin)
        except OSError:
            # Another one may get the same number.
            self._file = (0, 0)
            return []
        whole = found[: found.rfind(b"\n") + 1]
        skipped = begin > self._read_bytes
        self._read_bytes = begin + len(whole)
        lines = whole.decode(errors="replace").splitlines()
        # The first one may be a part of one.
        return lines[1:] if skipped else lines
