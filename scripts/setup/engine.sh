# shellcheck shell=bash
# A running Docker engine: the installed one, or the distribution's package.

ENGINE_LOG=/var/log/dockerd.log
ENGINE_PID_FILE=/var/run/docker.pid
# The containerd that dockerd starts itself.
CONTAINERD_PID_FILE=/var/run/docker/containerd/containerd.pid
SYSTEMD_FOLDER=/run/systemd/system
ENGINE_START_TIMEOUT_S=60

ensure_engine() {
  engine_answers && return
  [[ -z ${DOCKER_HOST:-} ]] || fail "no Docker engine answers at DOCKER_HOST=$DOCKER_HOST" "start that engine, or unset DOCKER_HOST"
  if ! has dockerd; then
    fail_unless_installable
    install_engine
  fi
  [[ $EUID -eq 0 ]] || fail "the Docker engine does not answer" "start it (sudo systemctl start docker) and join the group docker, or run this as root"
  start_engine
}

engine_answers() { docker info >/dev/null 2>&1; }

install_engine() {
  apt_update_once
  local packages=(docker.io)
  # Newer releases have a separate package for the client.
  [[ -z $(package_version docker-cli) ]] || packages+=(docker-cli)
  install_packages "${packages[@]}"
}

fail_unless_installable() {
  local needed="Docker Engine 20.10 or newer with Compose 2.20 or newer"
  [[ $(uname -s) != Darwin ]] || fail "no Docker engine answers" "install and start Docker Desktop ($needed), then run this again"
  has apt-get || fail "no Docker engine answers" "install $needed from your system's packages, start it, then run this again"
  [[ $EUID -eq 0 ]] || fail "no Docker engine answers, and installing one needs root" "run this as root once, or install $needed and start it"
}

start_engine() {
  local log_bytes=0 pid
  if [[ -d $SYSTEMD_FOLDER ]]; then
    say "starting the Docker engine"
    remove_stale_pid_files
    systemctl start docker || fail "systemctl could not start the Docker engine" "read: journalctl -u docker"
    wait_until "$ENGINE_START_TIMEOUT_S" engine_answers && return
    fail "the Docker engine did not answer within $ENGINE_START_TIMEOUT_S s" "read: journalctl -u docker"
  fi
  if pid=$(running_dockerd); then
    say "waiting for the Docker engine (process $pid)"
  else
    say "starting the Docker engine"
    remove_stale_pid_files
    [[ ! -f $ENGINE_LOG ]] || log_bytes=$(wc -c <"$ENGINE_LOG")
    setsid dockerd >>"$ENGINE_LOG" 2>&1 </dev/null &
    pid=$!
  fi
  wait_until "$ENGINE_START_TIMEOUT_S" engine_answers_or_ended "$pid" || true
  engine_answers && return
  if is_running "$pid"; then
    fail "the Docker engine did not answer within $ENGINE_START_TIMEOUT_S s: $(last_error "$log_bytes")" "read $ENGINE_LOG"
  fi
  fail "the Docker engine ended while it started: $(last_error "$log_bytes")" "read $ENGINE_LOG"
}

# The first dockerd that is not a zombie.
running_dockerd() { pgrep -o -x -r D,R,S dockerd; }

engine_answers_or_ended() { engine_answers || ! is_running "$1"; }

# Whether a process exists and is not a zombie.
is_running() { grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" 2>/dev/null; }

# dockerd accepts any process under the recorded number as running: another program, or the zombie of a killed engine.
# It then does not start, or waits for a containerd that is gone.
remove_stale_pid_files() {
  local stale=()
  pid_file_is_stale "$ENGINE_PID_FILE" dockerd && stale+=("$ENGINE_PID_FILE")
  pid_file_is_stale "$CONTAINERD_PID_FILE" containerd && stale+=("$CONTAINERD_PID_FILE")
  ((${#stale[@]})) || return 0
  say "removing the pid file of an engine that no longer runs: ${stale[*]}"
  rm -f "${stale[@]}"
}

# pid_file_is_stale FILE PROGRAM: whether FILE exists and its process is not a running PROGRAM.
pid_file_is_stale() {
  [[ -f $1 ]] || return 1
  local pid
  pid=$(<"$1")
  ! { [[ $pid =~ ^[0-9]+$ && $(cat "/proc/$pid/comm" 2>/dev/null) == "$2" ]] && is_running "$pid"; }
}

# last_error BYTES: the last line after the log's first BYTES that reports an error, otherwise its last line.
last_error() {
  [[ -f $ENGINE_LOG ]] || { echo "no log"; return; }
  tail -c "+$(($1 + 1))" "$ENGINE_LOG" \
    | awk 'NF { last = $0 } /^failed|level=(error|fatal)/ { error = $0 } END { print error ? error : last ? last : "no log line" }'
}
