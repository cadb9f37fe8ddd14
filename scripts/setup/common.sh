# shellcheck shell=bash
# Shared by all parts of the set-up: messages and Debian packages.

say() { printf 'setup: %s\n' "$*" >&2; }

# fail MESSAGE HINT: prints the problem and what to do, then exits.
fail() {
  printf 'setup: %s\n       %s\n' "$1" "${2:-}" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# wait_until SECONDS COMMAND...: polls until the command succeeds.
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

can_install_packages() { has apt-get && [[ $EUID -eq 0 ]]; }

# A third-party source list may fail: only the packages installed here must be available.
apt_update_once() {
  [[ -n ${APT_UPDATED:-} ]] && return
  say "reading the package lists"
  apt-get update -qq >/dev/null 2>&1 || say "some package lists could not be read; continuing with the others"
  APT_UPDATED=yes
}

# The version that apt would install; empty if there is none.
package_version() { apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'; }

install_packages() {
  apt_update_once
  say "installing $* from the distribution"
  local log
  log=$(mktemp)
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >"$log" 2>&1 \
    || { tail -n 15 "$log" >&2; fail "apt-get could not install $*" "fix the error above and run this again"; }
  rm -f "$log"
}
