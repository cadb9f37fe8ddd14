# shellcheck shell=bash
# A browser for the test that looks at the report.

ensure_chromium() {
  has chromium || has google-chrome || has chromium-browser && return
  can_install_packages || fail "there is no Chromium for the browser test" "install chromium or google-chrome"
  install_packages chromium
}
