"""What programs that are users make of answers, on their images: of a server that answers well, badly, not at all."""

import itertools
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.command import paths
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.load import GENERATORS
from lab.load.users import Users

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

NAME = "tollbooth-users-contract"
# By path. After "leaves" the server closes without saying so, as one does that was idle for too long.
SERVER = r"""
import socketserver
import time
ANSWERS = {
    "/length": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n",
    "/closes": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    "/fails": b"HTTP/1.1 503 No\r\nContent-Length: 3\r\n\r\nbad",
    "/silent": b"",
    "/half": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
    "/leaves": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "/never": b"",
    "/slow": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate",
}
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        print("connected", flush=True)
        while line := self.rfile.readline():
            path = line.split()[1].decode()
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            if path == "/slow":
                time.sleep(1.5)
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


@dataclass(frozen=True)
class Program:
    """How `compose.yaml` starts one: its words, and the variables beyond those that all have."""

    words: tuple[str, ...]
    settings: Callable[[str, int], dict[str, object]]


PROGRAMS = {
    "locust": Program(
        ("--locustfile", "/users/locustfile.py", "--headless", "--only-summary", "--exit-code-on-error", "0"),
        lambda server, users: {
            "HOME": "/tmp",
            "LOCUST_HOST": f"http://{server}:8080",
            "LOCUST_USERS": users,
            "LOCUST_SPAWN_RATE": users,
            "LOCUST_RUN_TIME": "30s",
        },
    ),
    "visitors": Program(
        ("/users/visitors.py",),
        lambda server, users: {"TARGET": f"{server}:8080", "USERS": users, "BOUND_S": 30},
    ),
}
COLUMNS = ("user", "target", "intended_ns", "start_ns", "end_ns", "status", "bytes")
Rows = list[dict[str, str]]


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    images.ensure(["visitors", request.param], print)
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A container that answers; its name is also its network's and its host's."""
    image = images.references(["visitors"])["visitors"]
    remove()
    docker("network", "create", NAME)
    try:
        docker("run", "--detach", "--init", "--name", NAME, "--network", NAME, image, "-c", SERVER)
        assert wait_until(lambda: "listening" in docker("logs", NAME), 60, 0.1, SystemClock())
        yield NAME
    finally:
        remove()


def remove() -> None:
    for words in (("rm", "--force", "--volumes", NAME, f"{NAME}-users"), ("network", "rm", NAME)):
        subprocess.run(["docker", *words], capture_output=True, check=False)


def docker(*words: str) -> str:
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout


def rows(
    program: str, server: str, out: Path, routes: Iterable[str], users: int,
    words: Sequence[str] | None = None, **others: object,
) -> Rows:  # fmt: skip
    """Lets users send about 40 requests; returns what they wrote down."""
    out.mkdir()
    out.chmod(0o777)
    settings = {
        **PROGRAMS[program].settings(server, users),
        "ROUTES": " ".join(routes),
        "THINK_TIME_S": "0.01 0.02",
        "WARM_UP_REQUESTS": 40,
        "AFTER_WARM_UP_S": 0.5,
        "SEED": 1,
        **others,
    }
    given = [word for name, value in settings.items() for word in ("--env", f"{name}={value}")]
    folders = ["--volume", f"{paths.ROOT}/loadgen/users:/users:ro", "--volume", f"{out}:/out"]
    container = ["--rm", "--name", f"{NAME}-users", "--network", NAME, "--tmpfs", "/tmp:mode=1777", *given, *folders]
    docker("run", *container, images.references([program])[program], *(words or PROGRAMS[program].words))
    form, columns, *requests = (out / "requests.csv").read_text().splitlines()
    assert (form, columns) == ("# tollbooth.requests v1", ",".join(COLUMNS))
    return [dict(zip(COLUMNS, request.split(","), strict=True)) for request in requests]


def worth(requests: Rows) -> dict[str, set[tuple[int, int]]]:
    """By target what came: status and bytes."""
    found: dict[str, set[tuple[int, int]]] = {}
    for row in requests:
        found.setdefault(row["target"], set()).add((int(row["status"]), int(row["bytes"])))
    return found


def test_every_program_that_is_users_keeps_the_contract() -> None:
    assert set(PROGRAMS) == {name for name, generator in GENERATORS.items() if isinstance(generator, Users)}


def test_every_answer_is_worth_what_it_is(program: str, server: str, tmp_path: Path) -> None:
    requests = rows(program, server, tmp_path / "out", WORTH, users=2)
    assert len(requests) >= 40
    assert worth(requests) == {target: {what} for target, what in WORTH.items()}


def test_a_user_keeps_one_connection(program: str, server: str, tmp_path: Path) -> None:
    routes = ["length", "chunked", "fails"]
    before = connections(server)
    requests = rows(program, server, tmp_path / "out", routes, users=3)
    assert len(requests) >= 40
    assert sorted(worth(requests)) == sorted(routes)
    assert connections(server) - before == 3


def connections(server: str) -> int:
    """How many connections it has taken."""
    return docker("logs", server).count("connected")


def test_a_user_visits_all_before_repeating_one_and_thinks_in_between(
    program: str, server: str, tmp_path: Path
) -> None:
    routes = ["length", "chunked", "fails"]
    think: dict[str, Any] = {"THINK_TIME_S": "0.1 0.2", "WARM_UP_REQUESTS": 0, "AFTER_WARM_UP_S": 3}
    requests = rows(program, server, tmp_path / "out", routes, 2, **think)
    for user in ("1", "2"):
        own = [row for row in requests if row["user"] == user]
        assert len(own) > 9
        assert all({row["target"] for row in own[i : i + 3]} == set(routes) for i in range(0, len(own) - 2, 3))
        pauses_s = [(int(b["intended_ns"]) - int(a["end_ns"])) / 1e9 for a, b in itertools.pairwise(own)]
        # The first is drawn anew, so that users do not send in step.
        assert 0 <= pauses_s[0] <= 0.2
        assert all(0.1 <= pause_s <= 0.2 for pause_s in pauses_s[1:])
        assert all(int(row["intended_ns"]) <= int(row["start_ns"]) < int(row["end_ns"]) for row in own)
    ends = [int(row["end_ns"]) for row in requests]
    assert ends == sorted(ends)


def test_the_last_requests_are_awaited_for_a_while_and_none_begins_meanwhile(
    program: str, server: str, tmp_path: Path
) -> None:
    ending: dict[str, Any] = {"WARM_UP_REQUESTS": 0, "AFTER_WARM_UP_S": 1}
    requests = rows(program, server, tmp_path / "out", ["never", "slow"], 4, **ending)
    # Of the four users, which draw their first route, the second requests the one that is never answered.
    assert [row["user"] for row in sorted(requests, key=lambda row: row["user"])] == ["1", "3", "4"]
    assert worth(requests) == {"slow": {(200, 4)}}


def test_nobody_answers(program: str, server: str, tmp_path: Path) -> None:
    elsewhere = {"LOCUST_HOST": f"http://{server}:9", "TARGET": f"{server}:9"}
    requests = rows(program, server, tmp_path / "out", ["length"], 2, **elsewhere)
    assert len(requests) >= 40
    assert worth(requests) == {"length": {(0, 0)}}


def test_visitors_give_up_what_takes_too_long(server: str, tmp_path: Path) -> None:
    images.ensure(["visitors"], print)
    words = ("-c", "import sys; sys.path.append('/users'); import visitors; "
             "visitors.ANSWER_TIMEOUT_NS = 50_000_000; visitors.main()")  # fmt: skip
    requests = rows("visitors", server, tmp_path / "out", ["never"], 2, words, WARM_UP_REQUESTS=4, BOUND_S=20)
    assert worth(requests) == {"never": {(0, 0)}}
    assert all(int(row["end_ns"]) - int(row["start_ns"]) >= 50_000_000 for row in requests)
