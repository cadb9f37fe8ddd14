"""How tests without an engine call Compose: itself. `docker` would start it twice, first to read what it is."""

from pathlib import Path

# Where `docker` looks for its plugins.
FOLDERS = (
    Path.home() / ".docker/cli-plugins",
    *(
        Path(folder) / "docker/cli-plugins"
        for folder in ("/usr/local/lib", "/usr/local/libexec", "/usr/lib", "/usr/libexec")
    ),
)
COMPOSE = next(
    ([str(path)] for folder in FOLDERS if (path := folder / "docker-compose").exists()), ["docker", "compose"]
)
