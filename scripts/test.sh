#!/usr/bin/env bash
# test.sh STAGE...: runs the stages in the order given, says how long each took, stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lint() { .venv/bin/ruff check . && .venv/bin/mypy; }
# What the containers of the later stages run from; named as a stage of its own because from nothing it takes minutes.
images() { .venv/bin/lab images quick; }
go() { .venv/bin/python scripts/test_image.py observer sink spinner ghz; }
java() { .venv/bin/python scripts/test_image.py services; }
# What may go on beside the contracts that have the lab to themselves.
beside() {
  nice -n 19 .venv/bin/pytest -m "not containers and not long" && .venv/bin/pytest -m "beside and not long" tests/contract
}
python() {
  if [[ -n ${PYTEST_ARGS:-} ]]; then
    # shellcheck disable=SC2086  # several arguments in one variable
    .venv/bin/pytest $PYTEST_ARGS
    return
  fi
  # Contracts leave CPU time over; what measures (e2e) must have the machine to itself.
  local log=.lab/logs/pytest.log
  mkdir -p "${log%/*}"
  # In a process group of its own, which is ended as a whole: Ctrl-C does not reach what runs in the background.
  set -m
  beside >"$log" 2>&1 &
  local others=$!
  set +m
  trap "kill -- -$others 2>/dev/null || true" EXIT
  .venv/bin/pytest -m "containers and not beside and not long" tests/contract || return 1
  wait $others || { cat "$log"; return 1; }
  grep ' passed' "$log"
  .venv/bin/pytest -m "containers and not long" tests/e2e
}

for stage in "$@"; do
  began=$SECONDS
  printf '\n== %s\n' "$stage"
  "$stage" || { printf '== %s FAILED after %d s\n' "$stage" $((SECONDS - began)); exit 1; }
  printf '== %s passed in %d s\n' "$stage" $((SECONDS - began))
done
