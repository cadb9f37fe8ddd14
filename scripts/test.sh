#!/usr/bin/env bash
# test.sh STAGE...: runs the stages in the given order, prints how long each took, stops at the first failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lint() { .venv/bin/ruff check . && .venv/bin/mypy; }
# Images are stages of their own because building them takes minutes: first those of `quick`, which are built soonest.
images() { .venv/bin/lab images quick; }
# The contract tests need all images, but for earlier Envoys and benchmarks (`-m long`). None may be built while they
# measure.
all_images() {
  .venv/bin/python -c 'from lab.engine.images import TABLE, ensure
ensure([name for name in TABLE if not name.startswith(("envoy-", "benchmarks"))], print)'
}
go() { .venv/bin/python scripts/test_image.py observer sink spinner testserver ghz fortio open-loop traces; }
java() { .venv/bin/python scripts/test_image.py services; }
# As root, Chromium would raise its own priority above all other processes.
# Threads of BLAS spin while they wait, and take CPU time from containers.
without_containers() {
  local low_priority=(env OPENBLAS_NUM_THREADS=1 nice -n 19)
  ((EUID)) || low_priority+=(setpriv --bounding-set=-sys_nice)
  "${low_priority[@]}" .venv/bin/pytest --durations=40 -m "not containers and not long"
}
contracts() { .venv/bin/pytest -m "containers and not long and $1" "${@:2}" tests/contract; }
variants() { contracts beside -k test_variants; }
# Dozens of Collectors and Envoys start and end. Beside them the observer misses its ticks in a fault.
collectors() { contracts beside -k test_collector; }
proxies() { contracts beside -k test_proxy; }
other_contracts() { contracts beside -k "not test_variants and not test_collector and not test_proxy"; }
groups=()
# begin LOG COMMAND: runs a command in the background, in its own process group, which Ctrl-C does not reach.
begin() {
  set -m; "$2" >"$1" 2>&1 & set +m
  groups+=("$!")
  trap 'kill -- "${groups[@]/#/-}" 2>/dev/null || true' EXIT
}
# ended PROCESS LOG: waits for a background command; prints its log if it failed.
ended() { wait "$1" || { cat "$2"; return 1; }; grep ' passed' "$2"; }
python() {
  if [[ -n ${PYTEST_ARGS:-} ]]; then
    # shellcheck disable=SC2086  # several arguments in one variable
    .venv/bin/pytest $PYTEST_ARGS
    return
  fi
  local logs=.lab/logs command
  mkdir -p "$logs"
  for command in without_containers variants other_contracts; do begin "$logs/$command.log" "$command"; done
  # Most of the time, faults wait.
  contracts "not beside and not alone" || return 1
  ended "${groups[1]}" "$logs/variants.log" || return 1
  ended "${groups[2]}" "$logs/other_contracts.log" || return 1
  begin "$logs/proxies.log" proxies
  collectors || return 1
  ended "${groups[3]}" "$logs/proxies.log" || return 1
  # What measures speed runs without other containers.
  contracts alone || return 1
  ended "${groups[0]}" "$logs/without_containers.log" || return 1
  # Measuring tests run alone on the machine.
  .venv/bin/pytest -m "containers and not long" tests/e2e
}

for stage in "$@"; do
  began=$SECONDS
  printf '\n== %s\n' "$stage"
  "$stage" || { printf '== %s FAILED after %d s\n' "$stage" $((SECONDS - began)); exit 1; }
  printf '== %s passed in %d s\n' "$stage" $((SECONDS - began))
done
