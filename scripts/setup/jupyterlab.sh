# shellcheck shell=bash
# JupyterLab for `make notebooks`, in a folder of its own. What the lab has too is only in .venv.

JUPYTERLAB=.lab/jupyterlab

ensure_jupyterlab() {
  jupyterlab_is_installed && return
  say "installing JupyterLab from notebooks/requirements.lock"
  rm -rf "$JUPYTERLAB"
  # With requirements.lock the lock is complete, so nothing is resolved.
  .venv/bin/python -m pip install -q --no-deps --no-compile --require-hashes --only-binary :all: \
    --target "$JUPYTERLAB" -r notebooks/requirements.lock
  jupyterlab_wanted >"$JUPYTERLAB/.installed-from"
}

jupyterlab_is_installed() {
  [[ -f $JUPYTERLAB/.installed-from && $(<"$JUPYTERLAB/.installed-from") == "$(jupyterlab_wanted)" ]]
}

jupyterlab_wanted() { { .venv/bin/python -V; cat requirements.lock notebooks/requirements.lock; } | cksum; }
