# shellcheck shell=bash
# A Docker engine that answers: the one that is there, or the distribution's.

ENGINE_LOG=/var/log/dockerd.log
ENGINE_START_TIMEOUT_S=60

ensure_engine() {
  engine_answers && return
  [[ -z ${DOCKER_HOST:-} ]] || fail "no Docker engine answers at DOCKER_HOST=$DOCKER_HOST" "start that one, or unset DOCKER_HOST"
  if ! has dockerd; then
    refuse_unless_installable
    install_engine
  fi
  [[ $EUID -eq 0 ]] || fail "the Docker engine does not answer" "start it (sudo systemctl start docker) and join the group docker, or run this as root"
  start_engine
}

engine_answers() { docker info >/dev/null 2>&1; }

install_engine() {
  apt_update_once
  local packages=(docker.io)
  # Newer releases have the client in a package of its own.
  [[ -z $(package_version docker-cli) ]] || packages+=(docker-cli)
  install_packages "${packages[@]}"
}

refuse_unless_installable() {
  local needed="Docker Engine 20.10 or newer with Compose 2.20 or newer"
  [[ $(uname -s) != Darwin ]] || fail "no Docker engine answers" "install and start Docker Desktop ($needed), then run this again"
  has apt-get || fail "no Docker engine answers" "install $needed by your system's packages, start it, then run this again"
  [[ $EUID -eq 0 ]] || fail "no Docker engine answers, and installing one needs root" "run this as root once, or install $needed and start it"
}

start_engine() {
  say "starting the Docker engine"
  if [[ -d /run/systemd/system ]]; then
    systemctl start docker
  elif ! pgrep -x -r D,R,S dockerd >/dev/null; then # one that was killed may still be listed, as a zombie
    setsid dockerd >>"$ENGINE_LOG" 2>&1 </dev/null &
  fi
  wait_until "$ENGINE_START_TIMEOUT_S" engine_answers && return
  [[ -f $ENGINE_LOG ]] && tail -n 15 "$ENGINE_LOG" >&2
  fail "the Docker engine did not answer within $ENGINE_START_TIMEOUT_S s" "the lines above, or journalctl -u docker, say why"
}
