"""Asking Envoy itself whether it takes configurations, before anything is started."""

import io
import re
import subprocess
import tarfile
from collections.abc import Mapping

from lab.errors import UserError

TIMEOUT_S = 300.0
LONGEST_MESSAGE = 400
# One container for all of them. What Envoy refuses is told as its name, Envoy's message, and an empty line.
SCRIPT = """
mkdir /tmp/configurations && tar -x -C /tmp/configurations && cd /tmp/configurations || exit 1
find . -type f -name '*.json' | sort | while read -r file; do
  envoy --mode validate --disable-hot-restart --log-level critical --config-path "$file" >/tmp/said 2>&1 && continue
  echo "${file#./}"
  grep . /tmp/said
  echo
done
"""
BEFORE_THE_MESSAGE = re.compile(r"^.*?error initializing configuration '[^']*': ")


def refuse_wrong(texts: Mapping[str, str], image: str) -> None:
    """Raises `UserError` with Envoy's own message where it refuses one of `texts`: `<name>.json` -> configuration."""
    for name, message in refusals(texts, image).items():
        raise UserError(
            f"Envoy refuses the configuration {name}: {message}",
            "what it is made of is in envoy/: mend that (envoy/README.md)",
        )


def refusals(texts: Mapping[str, str], image: str) -> dict[str, str]:
    """Envoy's message, on one line, for each configuration that it refuses, by name."""
    command = [
        *("docker", "run", "--rm", "--interactive", "--pull", "never", "--network", "none", "--read-only"),
        *("--tmpfs", "/tmp:mode=1777", "--user", "65532:65532", "--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges:true", "--entrypoint", "sh", image, "-c", SCRIPT),
    ]
    try:
        done = subprocess.run(command, input=_archive(texts), capture_output=True, check=False, timeout=TIMEOUT_S)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise UserError(f"Envoy could not be asked: {error}", "run `make doctor`") from None
    if done.returncode != 0:
        raise UserError(f"Envoy could not be asked: {_last_line(done.stderr)}", "`lab images` makes what is missing")
    return dict(_refusal(part) for part in done.stdout.decode().split("\n\n") if part.strip())


def _archive(texts: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in texts.items():
            content = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _refusal(part: str) -> tuple[str, str]:
    name, _, said = part.strip().partition("\n")
    message = BEFORE_THE_MESSAGE.sub("", " ".join(said.split()))
    # Of some mistakes Envoy says what is wrong, and then the whole configuration.
    return name, message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}..."


def _last_line(text: bytes) -> str:
    return (text.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
