#!/usr/bin/env bash
# Prepares this machine: Python environment, Docker engine, Compose and buildx.
# `setup.sh test` adds Chromium for the browser test; `setup.sh python` stops after the Python environment;
# `setup.sh notebooks` adds JupyterLab to that. `setup.sh run FILE` takes packages and images from an archive of
# `lab bundle` and needs no network, if an engine with Compose is installed.
# It keeps what is already installed; a second run takes less than a second.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
for part in common python jupyterlab bundle engine plugins chromium; do
  # shellcheck source=/dev/null
  source "scripts/setup/$part.sh"
done

main() {
  local purpose=${1:-run} bundle=${2:-}
  case $purpose in
    python) ensure_python ;;
    notebooks) ensure_python; ensure_jupyterlab ;;
    run)
      [[ -z $bundle ]] || ensure_packages_of "$bundle"
      ensure_python; ensure_engine; ensure_plugins
      [[ -z $bundle ]] || ensure_images_of "$bundle"
      ;;
    test) ensure_python; ensure_engine; ensure_plugins; ensure_chromium ;;
    *) fail "unknown purpose \"$purpose\"" "use: scripts/setup.sh [python|notebooks|run [FILE]|test]" ;;
  esac
}

main "$@"
