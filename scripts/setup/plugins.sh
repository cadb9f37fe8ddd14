# shellcheck shell=bash
# Compose and buildx, plugins of the docker command. Compose builds nothing here, so any version of buildx works.

PLUGIN_FOLDER=/usr/local/lib/docker/cli-plugins

ensure_plugins() {
  plugins_are_right && return
  can_install_packages || fail "Docker Compose 2.20 or buildx is missing" "install both plugins (they come with Docker Desktop, and as docker-compose-plugin and docker-buildx-plugin)"
  apt_update_once
  install_plugins_of_this_release
  plugins_are_right || borrow_plugins_from_trixie
  compose_is_recent || fail "Docker Compose is still older than 2.20" "install a newer one (docker compose version)"
  buildx_answers || fail "buildx still does not answer" "install Docker's buildx plugin (docker buildx version)"
}

plugins_are_right() { compose_is_recent && buildx_answers; }

buildx_answers() { docker buildx version >/dev/null 2>&1; }

compose_is_recent() {
  local version
  version=$(docker compose version --short 2>/dev/null) || return 1
  is_at_least 2.20 "${version#v}"
}

# Debian calls it docker-compose (version 2 from trixie on), Ubuntu docker-compose-v2.
install_plugins_of_this_release() {
  local package
  for package in docker-compose-v2 docker-compose docker-buildx; do
    [[ $package == docker-compose ]] && ! is_at_least 2 "$(package_version docker-compose)" && continue
    [[ -n $(package_version "$package") ]] && install_packages "$package"
  done
  return 0
}

is_at_least() { [[ -n $2 && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# Bookworm has neither. Trixie's packages hold Go programs that also run on bookworm. They are fetched with separate
# package lists, which keep the newer release out of apt's own.
borrow_plugins_from_trixie() {
  local mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg folder
  # shellcheck disable=SC2016  # apt-get fills the variable in
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 'Created-By: Packages' | head -n 1)
  [[ -n $mirror && -f $keyring ]] || fail "this release has no Compose 2 package" "install Docker's Compose and buildx plugins"
  say "fetching Compose and buildx from Debian trixie"
  folder=$(mktemp -d)
  chmod 755 "$folder"
  mkdir -p "$folder"/lists/partial "$folder"/archives/partial "$folder"/unpacked "$PLUGIN_FOLDER"
  echo "deb [signed-by=$keyring] $mirror trixie main" >"$folder/trixie.list"
  local options=(-qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$folder/trixie.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder" -o Dir::Cache::archives="$folder/archives")
  apt-get "${options[@]}" update
  (cd "$folder/archives" && apt-get "${options[@]}" download docker-compose docker-buildx)
  local package
  for package in "$folder"/archives/*.deb; do dpkg -x "$package" "$folder/unpacked"; done
  install -m 755 "$folder"/unpacked/usr/libexec/docker/cli-plugins/* "$PLUGIN_FOLDER"
  rm -rf "$folder"
}
