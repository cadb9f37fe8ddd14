#!/usr/bin/env bash
# test.sh STAGE...: runs the stages in the order given, says how long each took, stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lint() { .venv/bin/ruff check . && .venv/bin/mypy; }
# What the containers of the later stages run from; named as a stage of its own because from nothing it takes minutes.
images() { .venv/bin/lab images quick; }
go() { .venv/bin/python scripts/test_image.py observer sink spinner ghz; }
java() { .venv/bin/python scripts/test_image.py services; }
# What measures must have the machine to itself; all else shares it out.
python() {
  if [[ -n ${PYTEST_ARGS:-} ]]; then
    # shellcheck disable=SC2086  # several arguments in one variable
    .venv/bin/pytest $PYTEST_ARGS
  else
    .venv/bin/pytest -m "not containers and not long" --numprocesses=auto && .venv/bin/pytest -m "containers and not long"
  fi
}

for stage in "$@"; do
  began=$SECONDS
  printf '\n== %s\n' "$stage"
  "$stage" || { printf '== %s FAILED after %d s\n' "$stage" $((SECONDS - began)); exit 1; }
  printf '== %s passed in %d s\n' "$stage" $((SECONDS - began))
done
