#!/usr/bin/env bash
# Removes everything that the lab created on this machine, except results: containers, images, .venv, logs and caches.
# The engine's build cache stays (`docker builder prune` empties it).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if docker info >/dev/null 2>&1; then
  [[ ! -x .venv/bin/lab ]] || .venv/bin/lab down
  images=$(docker image ls --filter 'reference=tollbooth/*' --format '{{.Repository}}:{{.Tag}}')
  # shellcheck disable=SC2086  # one name per word
  [[ -z $images ]] || docker image rm $images >/dev/null
  docker image prune --force --filter label=org.tollbooth.inputs >/dev/null
fi
rm -rf .venv .lab .pytest_cache .mypy_cache .ruff_cache ./*.egg-info
