#!/usr/bin/env bash
# build.sh TAG RELEASE: a minimal Debian as an image, from Debian's packages alone. For machines that reach no registry.
set -euo pipefail
tag=$1 release=$2

if ! command -v mmdebstrap >/dev/null; then
  if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
    echo "no registry answers, and mmdebstrap, which makes the base image, is missing: install it" >&2
    exit 1
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap debian-archive-keyring
fi

mmdebstrap --variant=minbase --aptopt='Acquire::Languages "none"' "$release" \
  | docker import --change 'CMD ["bash"]' --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$tag"
