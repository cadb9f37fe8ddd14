"""What Locust's users make of answers, on their image: a server that answers well, badly, and not at all."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import images, workshop
from lab.clock import SystemClock, wait_until

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

NAME = "tollbooth-locust-contract"
# By path. After "leaves" the server closes without saying so, as one does that was idle for too long.
SERVER = r"""
import socketserver
ANSWERS = {
    "/length": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n",
    "/closes": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "/fails": b"HTTP/1.1 503 No\r\nContent-Length: 3\r\n\r\nbad",
    "/silent": b"",
    "/half": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
    "/leaves": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
}
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        print("connected", flush=True)
        while line := self.rfile.readline():
            path = line.split()[1].decode()
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            self.wfile.write(ANSWERS[path])
            if path in ("/closes", "/silent", "/half", "/leaves"):
                return
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
with Server(("", 8080), Handler) as server:
    print("listening", flush=True)
    server.serve_forever()
"""
# Status and bytes of the body, by target; (0, 0) where no whole answer came.
WORTH = {
    "length": (200, 5),
    "chunked": (200, 8),
    "closes": (200, 2),
    "fails": (503, 3),
    "silent": (0, 0),
    "half": (0, 0),
    "leaves": (200, 1),
}
OPTIONS = ["--locustfile", "/locust/locustfile.py", "--headless", "--only-summary", "--exit-code-on-error", "0"]


@pytest.fixture(scope="module")
def image() -> str:
    images.ensure(["locust"], print)
    return images.references(["locust"])["locust"]


@pytest.fixture
def server(image: str) -> Iterator[str]:
    """A container that answers; its name is also its network's and its host's."""
    remove()
    docker("network", "create", NAME)
    try:
        docker("run", "--detach", "--name", NAME, "--network", NAME, "--entrypoint", "python", image, "-c", SERVER)
        assert wait_until(lambda: "listening" in docker("logs", NAME), 20, 0.1, SystemClock())
        yield NAME
    finally:
        remove()


def remove() -> None:
    for words in (("rm", "--force", "--volumes", NAME, f"{NAME}-users"), ("network", "rm", NAME)):
        subprocess.run(["docker", *words], capture_output=True, check=False)


def docker(*words: str) -> str:
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout


def asked(image: str, server: str, out: Path, routes: str, users: int) -> dict[str, set[tuple[int, int]]]:
    """Lets users ask for about 40 answers; returns by target what came: status and bytes."""
    out.mkdir()
    out.chmod(0o777)
    settings = {
        "HOME": "/tmp",
        "LOCUST_HOST": f"http://{server}:8080",
        "LOCUST_USERS": users,
        "LOCUST_SPAWN_RATE": users,
        "LOCUST_RUN_TIME": "30s",
        "ROUTES": routes,
        "THINK_TIME_S": "0.01 0.02",
        "WARM_UP_REQUESTS": 40,
        "AFTER_WARM_UP_S": 0.5,
        "SEED": 1,
    }
    given = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
    folders = ["--volume", f"{workshop.ROOT}/loadgen/locust:/locust:ro", "--volume", f"{out}:/out"]
    container = ["--name", f"{NAME}-users", "--network", NAME, "--tmpfs", "/tmp:mode=1777", *given, *folders]
    docker("run", *container, image, *OPTIONS)
    requests = (out / "requests.csv").read_text().splitlines()[2:]
    assert len(requests) >= 40
    found: dict[str, set[tuple[int, int]]] = {}
    for row in (request.split(",") for request in requests):
        found.setdefault(row[1], set()).add((int(row[5]), int(row[6])))
    return found


def test_every_answer_is_worth_what_it_is(image: str, server: str, tmp_path: Path) -> None:
    found = asked(image, server, tmp_path / "out", " ".join(WORTH), users=2)
    assert found == {target: {worth} for target, worth in WORTH.items()}


def test_a_user_keeps_one_connection(image: str, server: str, tmp_path: Path) -> None:
    routes = ["length", "chunked", "fails"]
    assert sorted(asked(image, server, tmp_path / "out", " ".join(routes), users=3)) == sorted(routes)
    assert docker("logs", server).count("connected") == 3
