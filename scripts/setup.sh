#!/usr/bin/env bash
# Prepares this machine: Python environment, Docker engine, Compose and buildx.
# `setup.sh test` adds Chromium for the browser test; `setup.sh python` stops after the Python environment.
# It keeps what is already installed; a second run takes less than a second.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
for part in common python engine plugins chromium; do
  # shellcheck source=/dev/null
  source "scripts/setup/$part.sh"
done

main() {
  local purpose=${1:-run}
  case $purpose in
    python) ensure_python ;;
    run) ensure_python; ensure_engine; ensure_plugins ;;
    test) ensure_python; ensure_engine; ensure_plugins; ensure_chromium ;;
    *) fail "unknown purpose \"$purpose\"" "use: scripts/setup.sh [python|run|test]" ;;
  esac
}

main "$@"
