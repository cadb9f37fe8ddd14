#!/usr/bin/env bash
# Removes what the lab made on this machine, other than results: images, .venv, logs and caches.
# The engine's build cache stays (`docker builder prune` empties it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if docker info >/dev/null 2>&1; then
  mapfile -t images < <(docker image ls --filter 'reference=tollbooth/*' --format '{{.Repository}}:{{.Tag}}')
  ((${#images[@]} == 0)) || docker image rm "${images[@]}" >/dev/null
  docker image prune --force --filter label=org.tollbooth.inputs >/dev/null
fi
rm -rf .venv .lab .pytest_cache .mypy_cache .ruff_cache ./*.egg-info
