#!/usr/bin/env bash
# test.sh STAGE...: runs the stages in the order given, says how long each took, stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lint() { .venv/bin/ruff check . && .venv/bin/mypy; }
# What the containers of the later stages run from; named as a stage of its own because from nothing it takes minutes.
images() { .venv/bin/lab images quick; }
go() { .venv/bin/python scripts/test_image.py observer sink spinner ghz; }
java() { .venv/bin/python scripts/test_image.py services; }
# Two that may go on beside the contracts that have the lab to themselves.
without_containers() { nice -n 19 .venv/bin/pytest -m "not containers and not long"; }
beside() { .venv/bin/pytest -m "beside and not long" tests/contract; }
# Waits for what went on in the background (process, log), and shows its log where it failed.
ended() { wait "$1" || { cat "$2"; return 1; }; grep ' passed' "$2"; }
python() {
  if [[ -n ${PYTEST_ARGS:-} ]]; then
    # shellcheck disable=SC2086  # several arguments in one variable
    .venv/bin/pytest $PYTEST_ARGS
    return
  fi
  # Contracts leave CPU time over; what measures (e2e) must have the machine to itself.
  local logs=.lab/logs
  mkdir -p "$logs"
  # Each in a process group of its own, which is ended as a whole: Ctrl-C does not reach what runs in the background.
  set -m
  without_containers >"$logs/without-containers.log" 2>&1 &
  local first=$!
  beside >"$logs/beside.log" 2>&1 &
  local second=$!
  set +m
  trap "kill -- -$first -$second 2>/dev/null || true" EXIT
  .venv/bin/pytest -m "containers and not beside and not long" tests/contract || return 1
  ended $first "$logs/without-containers.log" || return 1
  ended $second "$logs/beside.log" || return 1
  .venv/bin/pytest -m "containers and not long" tests/e2e
}

for stage in "$@"; do
  began=$SECONDS
  printf '\n== %s\n' "$stage"
  "$stage" || { printf '== %s FAILED after %d s\n' "$stage" $((SECONDS - began)); exit 1; }
  printf '== %s passed in %d s\n' "$stage" $((SECONDS - began))
done
