#!/usr/bin/env bash
# JupyterLab on the repository, with .venv's Python as kernel. It listens on 127.0.0.1 only, and the address that it
# prints has a token, which is new at each start.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jupyterlab=$PWD/.lab/jupyterlab
# No configuration of the machine or the user applies: it could have no token, or another address.
unset JUPYTER_TOKEN JUPYTER_TOKEN_FILE
export JUPYTER_NO_CONFIG=1 JUPYTER_DATA_DIR=$jupyterlab/data JUPYTER_PATH=$jupyterlab/share/jupyter
export JUPYTERLAB_DIR=$jupyterlab/share/jupyter/lab PYTHONPATH=$jupyterlab${PYTHONPATH:+:$PYTHONPATH}
options=(
  --ServerApp.ip=127.0.0.1
  --ServerApp.root_dir="$PWD"
  --ServerApp.open_browser=False
  # Containers need root on many machines, so the lab often runs as root.
  --ServerApp.allow_root=True
  --LabApp.default_url=/lab/tree/notebooks
  # No requests to the network.
  --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate
  --LabApp.news_url=None
  --LabApp.extension_manager=readonly
)
exec .venv/bin/python -m jupyterlab "${options[@]}" "$@"
