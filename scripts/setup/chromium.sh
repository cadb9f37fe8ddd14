# shellcheck shell=bash
# A browser for the test of the report's page.

ensure_chromium() {
  has chromium || has google-chrome || has chromium-browser && return
  can_install_packages || fail "there is no Chromium for the browser test" "install chromium or google-chrome"
  install_packages chromium
}
