#!/bin/sh
# Programs from Debian's packages (named as their packages are): installs what is missing when root, else says what to do.
set -eu
missing=''
is_here() {
  command -v "$1" >/dev/null 2>&1 && return
  # Debian keeps the programs of each version of Postgres out of the PATH.
  [ "$1" = postgresql ] || return 1
  command -v initdb >/dev/null 2>&1 || ls "${GATEHOUSE_TEST_POSTGRES:-/none}"/initdb /usr/lib/postgresql/*/bin/initdb 2>/dev/null | grep -q .
}
for program in "$@"; do
  is_here "$program" || missing="$missing $program"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "missing:$missing. Install them first (Debian: apt-get install$missing)." >&2
  exit 1
fi
echo "install: apt-get install$missing"
apt-get update -qq >/dev/null
# shellcheck disable=SC2086 # one word a package
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
