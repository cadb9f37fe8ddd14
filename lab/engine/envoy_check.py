"""Envoy validates its configurations before anything is started."""

import io
import re
import subprocess
import tarfile
from collections.abc import Mapping

from lab.errors import UserError

TIMEOUT_S = 300.0
LONGEST_MESSAGE = 400
# One container for all. For each rejected file it prints the name, Envoy's message, and an empty line.
SCRIPT = """
mkdir /tmp/configurations && tar -x -C /tmp/configurations && cd /tmp/configurations || exit 1
find . -type f -name '*.json' | sort | while read -r file; do
  envoy --mode validate --disable-hot-restart --log-level critical --config-path "$file" >/tmp/message 2>&1 && continue
  echo "${file#./}"
  grep . /tmp/message
  echo
done
"""
BEFORE_THE_MESSAGE = re.compile(r"^.*?error initializing configuration '[^']*': ")


def reject_invalid(texts: Mapping[str, str], image: str) -> None:
    """Raises `UserError` with Envoy's message if it rejects one of `texts`: `<name>.json` -> configuration."""
    for name, message in rejections(texts, image).items():
        raise UserError(
            f"Envoy rejects the configuration {name}: {message}",
            "it is composed from the files of envoy/: fix these (envoy/README.md)",
        )


def rejections(texts: Mapping[str, str], image: str) -> dict[str, str]:
    """Envoy's message, on one line, for each configuration that it rejects, by name."""
    command = [
        *("docker", "run", "--rm", "--interactive", "--pull", "never", "--network", "none", "--read-only"),
        *("--tmpfs", "/tmp:mode=1777", "--user", "65532:65532", "--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges:true", "--entrypoint", "sh", image, "-c", SCRIPT),
    ]
    try:
        done = subprocess.run(command, input=_archive(texts), capture_output=True, check=False, timeout=TIMEOUT_S)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise UserError(f"Envoy could not check its configuration: {error}", "run `make doctor`") from None
    if done.returncode != 0:
        last_line = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise UserError(f"Envoy could not check its configuration: {last_line}", "run `lab images`")
    return dict(_rejection(part) for part in done.stdout.decode().split("\n\n") if part.strip())


def _archive(texts: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in texts.items():
            content = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _rejection(part: str) -> tuple[str, str]:
    name, _, message = part.strip().partition("\n")
    message = BEFORE_THE_MESSAGE.sub("", " ".join(message.split()))
    # After some messages Envoy prints the complete configuration.
    return name, message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}..."
