#!/usr/bin/env bash
# test.sh STAGE...: runs the stages in the given order, prints how long each took, stops at the first failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lint() { .venv/bin/ruff check . && .venv/bin/mypy; }
# Images are stages of their own because building them takes minutes: first those of `quick`, which are built soonest.
images() { .venv/bin/lab images quick; }
# The contract tests need all images. None may be built while they measure.
all_images() { .venv/bin/python -c 'from lab.engine.images import TABLE, ensure; ensure(TABLE, print)'; }
go() { .venv/bin/python scripts/test_image.py observer sink spinner ghz open-loop; }
java() { .venv/bin/python scripts/test_image.py services; }
# As root, Chromium would raise its own priority above all other processes.
without_containers() {
  local low_priority=(nice -n 19)
  ((EUID)) || low_priority+=(setpriv --bounding-set=-sys_nice)
  "${low_priority[@]}" .venv/bin/pytest -m "not containers and not long"
}
contracts() { .venv/bin/pytest -m "containers and not long and $1" "${@:2}" tests/contract; }
variants() { contracts beside -k test_variants; }
# background LOG COMMAND: runs a command in its own process group, which Ctrl-C does not reach. The caller ends the group.
background() { set -m; "$2" >"$1" 2>&1 & set +m; }
# ended PROCESS LOG: waits for a background command; prints its log if it failed.
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
  # Some contracts measure times and need the CPUs; the rest run at the same time as other tests.
  contracts "not beside" || return 1
  background "$logs/variants.log" variants
  local second=$!
  trap "kill -- -$first -$second 2>/dev/null || true" EXIT
  contracts beside -k "not test_variants" || return 1
  ended $first "$logs/without-containers.log" || return 1
  ended $second "$logs/variants.log" || return 1
  # Measuring tests run alone on the machine.
  .venv/bin/pytest -m "containers and not long" tests/e2e
}

for stage in "$@"; do
  began=$SECONDS
  printf '\n== %s\n' "$stage"
  "$stage" || { printf '== %s FAILED after %d s\n' "$stage" $((SECONDS - began)); exit 1; }
  printf '== %s passed in %d s\n' "$stage" $((SECONDS - began))
done
