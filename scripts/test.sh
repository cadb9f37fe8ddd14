#!/usr/bin/env bash
# test.sh STAGE...: runs the stages in the order given, says how long each took, stops at the first that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lint() { .venv/bin/ruff check . && .venv/bin/mypy; }
# What the containers of the later stages run from; named as a stage of its own because from nothing it takes minutes.
images() { .venv/bin/lab images quick; }
go() { .venv/bin/python scripts/test_image.py observer sink spinner ghz; }
java() { .venv/bin/python scripts/test_image.py services; }
# As root Chromium would raise its own priority, over that of everything else.
without_containers() {
  local meek=(nice -n 19)
  ((EUID)) || meek+=(setpriv --bounding-set=-sys_nice)
  "${meek[@]}" .venv/bin/pytest -m "not containers and not long"
}
contracts() { .venv/bin/pytest -m "containers and not long and $1" "${@:2}" tests/contract; }
variants() { contracts beside -k test_variants; }
# Lets a command go on in a process group of its own, which is ended as a whole: Ctrl-C does not reach it there.
background() { set -m; "$2" >"$1" 2>&1 & set +m; }
# Waits for what goes on in the background (process, log), and shows its log where it failed.
ended() { wait "$1" || { cat "$2"; return 1; }; grep ' passed' "$2"; }
python() {
  if [[ -n ${PYTEST_ARGS:-} ]]; then
    # shellcheck disable=SC2086  # several arguments in one variable
    .venv/bin/pytest $PYTEST_ARGS
    return
  fi
  local logs=.lab/logs
  mkdir -p "$logs"
  background "$logs/without-containers.log" without_containers
  local first=$!
  trap "kill -- -$first 2>/dev/null || true" EXIT
  # Some contracts ask how fast something is; beside the others there is only what leaves them the CPUs.
  contracts "not beside" || return 1
  background "$logs/variants.log" variants
  local second=$!
  trap "kill -- -$first -$second 2>/dev/null || true" EXIT
  contracts beside -k "not test_variants" || return 1
  ended $first "$logs/without-containers.log" || return 1
  ended $second "$logs/variants.log" || return 1
  # What measures must have the machine to itself.
  .venv/bin/pytest -m "containers and not long" tests/e2e
}

for stage in "$@"; do
  began=$SECONDS
  printf '\n== %s\n' "$stage"
  "$stage" || { printf '== %s FAILED after %d s\n' "$stage" $((SECONDS - began)); exit 1; }
  printf '== %s passed in %d s\n' "$stage" $((SECONDS - began))
done
