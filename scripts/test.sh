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
go() { .venv/bin/python scripts/test_image.py toolchain-go; }
java() { .venv/bin/python scripts/test_image.py services; }
# As root, Chromium would raise its own priority above all other processes.
# It also drops requests while a network of the machine changes, as with each container: root gives it one that does not.
# Threads of BLAS spin while they wait, and take CPU time from containers.
without_containers() {
  local low_priority=(env OPENBLAS_NUM_THREADS=1 nice -n 19)
  ((EUID)) || low_priority+=(
    setpriv --bounding-set=-sys_nice unshare --net sh -c 'ip link set lo up && exec "$@"' sh
  )
  "${low_priority[@]}" .venv/bin/pytest --durations=40 -m "not containers and not long" "$@"
}
# Two processes: a test without containers has one thread.
SECOND_HALF='tests/unit/test_[h-z]*.py'
first_half() { without_containers --ignore-glob="$SECOND_HALF"; }
# shellcheck disable=SC2086  # a pattern of several files
second_half() { without_containers $SECOND_HALF; }
with_containers() { .venv/bin/pytest --durations=10 -m "containers and not long and $1" "${@:2}"; }
# First the end-to-end tests, which are of the observer: later there are more containers beside them.
beside() { with_containers beside tests/e2e tests/contract -k "$1"; }
variants() { beside test_variants; }
# After the variants, whose JVMs need all the CPU time that there is.
collectors() { tail --pid="$(<"$LOGS/variants.pid")" --follow /dev/null; beside test_collector; }
# Two groups: those of Envoys mostly wait, for exports and for `docker`.
proxies() { beside test_proxy_; }
envoys() { beside "test_proxy.py or test_envoy"; }
others() { beside "not test_variants and not test_collector and not test_proxy and not test_envoy"; }
# In the lab's own project, so one after the other. Most of the time, they wait.
own_project() { with_containers "not beside and not alone" "$@"; }
groups=()
# begin COMMAND...: runs each in the background, in its own process group, which Ctrl-C does not reach. At the end those
# that still run are interrupted, and remove their containers.
begin() {
  local command
  for command in "$@"; do
    set -m; "$command" >"$LOGS/$command.log" 2>&1 & set +m
    echo "$!" >"$LOGS/$command.pid"
    groups+=("$!")
  done
  trap 'kill -INT -- "${groups[@]/#/-}" 2>/dev/null || true; wait' EXIT
}
# ended COMMAND...: waits for them; prints the log of one that failed.
ended() {
  local command
  for command in "$@"; do
    wait "$(<"$LOGS/$command.pid")" || { cat "$LOGS/$command.log"; return 1; }
    grep ' passed' "$LOGS/$command.log"
  done
}
LOGS=.lab/logs
python() {
  if [[ -n ${PYTEST_ARGS:-} ]]; then
    # shellcheck disable=SC2086  # several arguments in one variable
    .venv/bin/pytest $PYTEST_ARGS
    return
  fi
  mkdir -p "$LOGS"
  begin first_half second_half variants others
  # Dozens of Collectors and Envoys start and end. Beside them the observer misses its ticks in a fault.
  own_project tests/contract -k test_a_fault_of_a_service || return 1
  begin proxies envoys collectors
  own_project tests/contract -k "not test_a_fault_of_a_service" || return 1
  own_project tests/e2e || return 1
  ended variants others collectors proxies envoys || return 1
  # What measures speed runs without other containers.
  with_containers alone tests/contract || return 1
  ended first_half second_half || return 1
  # Experiments have the machine to themselves.
  with_containers alone tests/e2e
}

for stage in "$@"; do
  began=$SECONDS
  printf '\n== %s\n' "$stage"
  "$stage" || { printf '== %s FAILED after %d s\n' "$stage" $((SECONDS - began)); exit 1; }
  printf '== %s passed in %d s\n' "$stage" $((SECONDS - began))
done
