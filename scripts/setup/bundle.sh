# shellcheck shell=bash
# Packages and images from an archive that `lab bundle` made: for machines without a network.

UNPACKED=.lab/bundle

# ensure_packages_of FILE: installs what is missing from the archive's packages. Their checksums are those of the locks.
ensure_packages_of() {
  [[ -f $1 ]] || fail "there is no file $1" "name an archive that \`lab bundle\` made"
  python_is_installed && jupyterlab_is_installed && return
  local python
  python=$(find_python) || fail "there is no Python 3.11 or newer with venv" "install python3 and python3-venv"
  say "unpacking the Python packages of $1"
  rm -rf "$UNPACKED"
  "$python" scripts/unpack_wheels.py "$1" "$UNPACKED"
  (
    export PIP_NO_INDEX=1 PIP_FIND_LINKS=$UNPACKED/wheels
    ensure_python
    ensure_jupyterlab
  )
  rm -rf "$UNPACKED"
}

ensure_images_of() { .venv/bin/lab bundle --load "$1"; }
