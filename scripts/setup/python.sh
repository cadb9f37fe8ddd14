# shellcheck shell=bash
# A virtual environment in .venv with exactly the packages of requirements.lock.

PYTHON_STAMP=.venv/.installed-from

ensure_python() {
  python_is_installed && return
  .venv/bin/python -c 'import pip' 2>/dev/null || make_venv
  say "installing the Python packages of requirements.lock"
  # The lock is complete, so nothing is resolved. Python compiles only the modules that it imports.
  .venv/bin/python -m pip install -q --no-deps --no-compile --require-hashes -r requirements.lock
  .venv/bin/python -m pip install -q --no-deps -e .
  python_wanted >"$PYTHON_STAMP"
}

python_is_installed() {
  [[ -f $PYTHON_STAMP && $(<"$PYTHON_STAMP") == "$(python_wanted)" ]] && .venv/bin/python -V >/dev/null 2>&1
}

python_wanted() { cat requirements.lock pyproject.toml | cksum; }

make_venv() {
  local python
  if ! python=$(find_python); then
    can_install_packages || fail "there is no Python 3.11 or newer with venv" "install python3 and python3-venv"
    install_packages python3 python3-venv
    python=$(find_python) || fail "the distribution's Python is older than 3.11" "install Python 3.11 or newer with venv"
  fi
  say "making .venv with $python"
  "$python" -m venv --clear .venv
}

find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
    "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    echo "$candidate"
    return
  done
  return 1
}
