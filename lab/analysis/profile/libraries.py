"""What a stack is about: the kind of its thread, the libraries it goes through, and the one that is charged for it."""

import re
from collections.abc import Collection
from functools import cache

from lab.analysis.profile.records import Stack

JIT, GC, VIRTUAL = "JIT compiler", "garbage collector and VM", "virtual threads"
RUNTIME = "JDK and JVM alone"
NATIVE = "native code"

# Threads of the JVM by the beginning of their name, of which Linux keeps 15 characters.
_JVM_THREADS = {
    "C1 CompilerThre": JIT,
    "C2 CompilerThre": JIT,
    "VM Thread": GC,
    "VM Periodic": GC,
    "GC Thread": GC,
    "G1 ": GC,
    # The carriers of virtual threads.
    "ForkJoinPool-1-worker": VIRTUAL,
}
_THREAD_ID = re.compile(r"^\[(?P<name>.*?)(?: tid=\d+)?\]$")
_NUMBER = re.compile(r"\d+")
_JAVA_FRAME = re.compile(r"^(?P<package>[\w$-]+(?:/[\w$-]+)*)/(?P<class>[^/.]+)\.(?P<method>[^/]+)$")

# Code that works for whoever calls it. The JDK's HTTP client is a library like any other.
_PASSIVE = ("java", "javax", "jdk", "sun", "com.sun", "kotlin")
_HTTP_CLIENT = "java.net.http"
_HTTP_CLIENT_PACKAGES = ("java.net.http", "jdk.internal.net.http")
# The OpenTelemetry agent moves its own copies out of the way of the application's.
_SHADED = (
    ("io.opentelemetry.javaagent.shaded.io.", "io."),
    ("io.opentelemetry.javaagent.shaded.", "io.opentelemetry."),
)
_LIBRARY_SEGMENTS, _JDK_SEGMENTS = 3, 2


def thread_kind(frame: str) -> str:
    """Return the kind of the thread that a stack begins with: threads that differ in numbers only are of one."""
    match = _THREAD_ID.match(frame)
    name = match["name"] if match else frame
    known = (kind for start, kind in _JVM_THREADS.items() if name.startswith(start))
    return next(known, _NUMBER.sub("#", name))


@cache
def library(frame: str) -> str | None:
    """Return the library of a Java frame, the first three parts of its package; None for the JDK and native code."""
    package = _package(frame)
    if package is None:
        return None
    if _is_in(package, _HTTP_CLIENT_PACKAGES):
        return _HTTP_CLIENT
    return None if _is_in(package, _PASSIVE) else _first(package, _LIBRARY_SEGMENTS)


def owner(stack: Stack) -> str:
    """Return who is charged for a stack: the library nearest to what ran, else the JVM's own thread, else the runtime.

    So a library pays for the JDK's code that it calls, and not for the libraries that it calls.
    """
    thread, *frames = stack
    kind = thread_kind(thread)
    if kind in (JIT, GC):
        return kind
    return next((name for frame in reversed(frames) if (name := library(frame))), RUNTIME)


def method(stack: Stack) -> str | None:
    """Return the method (`Class.method`) of the library that is charged for a stack; None where there is none."""
    frame = next((frame for frame in reversed(stack[1:]) if library(frame)), None)
    return frame.rpartition("/")[2] if frame else None


def path(stack: Stack, known_libraries: Collection[str], known_threads: Collection[str]) -> tuple[str, ...]:
    """Return the boxes of a flame graph that a stack goes through: its thread's kind, its libraries, what they ran.

    Frames of one library that follow each other are one box, with the JDK's frames between them; the JDK's after the
    last library are a box for each part of the JDK. `known_*` are the baseline's: a library that is none of them, and
    calls one of them on a thread that the baseline has too, only passes the call on (a filter, an interceptor, a
    wrapped task). It is left out there, or whatever it passes on would look new.
    """
    thread, *frames = stack
    kind = thread_kind(thread)
    if kind in (JIT, GC):
        return (kind,)
    names = [library(frame) for frame in frames]
    last = max((index for index, name in enumerate(names) if name), default=-1)
    libraries = [name for name in names if name]
    if kind in known_threads:
        last_known = max((index for index, name in enumerate(libraries) if name in known_libraries), default=-1)
        libraries = [name for index, name in enumerate(libraries) if name in known_libraries or index > last_known]
    return (kind, *_runs(libraries), *_runs([_runtime_part(frame) for frame in frames[last + 1 :]]))


def _runs(names: list[str]) -> list[str]:
    return [name for index, name in enumerate(names) if index == 0 or names[index - 1] != name]


@cache
def _runtime_part(frame: str) -> str:
    package = _package(frame)
    return NATIVE if package is None else _first(package, _JDK_SEGMENTS)


def _package(frame: str) -> str | None:
    match = _JAVA_FRAME.match(frame)
    if match is None:
        return None
    package = match["package"].replace("/", ".")
    for shaded, own in _SHADED:
        if package.startswith(shaded):
            return own + package.removeprefix(shaded)
    return package


def _is_in(package: str, parents: tuple[str, ...]) -> bool:
    return any(package == parent or package.startswith(f"{parent}.") for parent in parents)


def _first(package: str, segments: int) -> str:
    return ".".join(package.split(".")[:segments])
