#!/bin/sh
# Programs from Debian's packages, named as their packages are: installs what is missing when root, else names all of it and
# fails. Nothing recommended comes along, no service is started and no database is made; what holds them back meanwhile is
# taken away again.
set -eu

lock_timeout_s=600
retry_s=5
progress_s=10

has() { command -v "$1" > /dev/null 2>&1; }

# Tests find them by the same variables and in the same places.
is_here() {
  case $1 in
    postgresql)
      has initdb || ls "${GATEHOUSE_TEST_POSTGRES:-/none}"/initdb /usr/lib/postgresql/*/bin/initdb 2> /dev/null | grep -q . ;;
    redis-server) has "${GATEHOUSE_TEST_REDIS:-redis-server}" || has valkey-server ;;
    nginx) has "${GATEHOUSE_TEST_NGINX:-nginx}" || has /usr/sbin/nginx ;;
    pgbouncer) has "${GATEHOUSE_TEST_PGBOUNCER:-pgbouncer}" || has /usr/sbin/pgbouncer ;;
    prometheus) has "${GATEHOUSE_TEST_PROMTOOL:-promtool}" ;;
    chromium-headless-shell) has /usr/bin/chromium-headless-shell ;;
    procps) has ps ;;
    *) has "$1" ;;
  esac
}

find_missing() {
  missing=''
  for package in "$@"; do
    is_here "$package" || missing="$missing $package"
  done
}

# What is here does in place of what cannot be had: the whole browser takes half as much time again as that without a window.
drop_replaceable() {
  needed=''
  for package in $missing; do
    case $package in
      chromium-headless-shell) has /usr/bin/chromium || needed="$needed $package" ;;
      *) needed="$needed $package" ;;
    esac
  done
  missing=$needed
}

say() { echo "install: $1"; }
fail() { echo "install: $1" >&2; exit 1; }

policy=/usr/sbin/policy-rc.d
policy_before=$policy.before-gatehouse
mark='Gatehouse: no service is started while the programs that its tests need are installed.'
no_cluster_folder=/etc/postgresql-common/createcluster.d
no_cluster=$no_cluster_folder/gatehouse.conf
folder_mark='# Its folder was made for it.'

hold_services_back() {
  # A run that was killed could not take its own away.
  let_services_go
  if [ -e "$policy" ] || [ -L "$policy" ]; then mv "$policy" "$policy_before"; fi
  printf '#!/bin/sh\n# %s\nexit 101\n' "$mark" > "$policy"
  chmod 755 "$policy"
  made=''
  if [ ! -d "$no_cluster_folder" ]; then
    mkdir -p "$no_cluster_folder"
    made=$folder_mark
  fi
  printf 'create_main_cluster = false\n%s\n' "$made" > "$no_cluster"
}

let_services_go() {
  if grep -qs "$mark" "$policy"; then rm -f "$policy"; fi
  if [ -e "$policy_before" ] || [ -L "$policy_before" ]; then mv "$policy_before" "$policy"; fi
  if grep -qs "$folder_mark" "$no_cluster"; then
    rm -f "$no_cluster"
    rmdir -p --ignore-fail-on-non-empty "$no_cluster_folder"
  fi
  rm -f "$no_cluster"
}

# Of installations at the same time, the second would take the policy of the first for the machine's own.
take_turn() {
  has flock || return 0
  exec 9< /var/lib/dpkg
  flock -n 9 && return
  [ "${1:-}" = wait ] || return
  say 'waiting for another installation of the same kind'
  flock 9
}

find_missing "$@"
can_install=no
if [ "$(id -u)" = 0 ] && has apt-get; then can_install=yes; else drop_replaceable; fi
# Also when nothing is missing any more: a policy that a killed run left would hold back every service for ever.
if [ $can_install = yes ] && grep -qs "$mark" "$policy" && take_turn; then let_services_go; fi
[ -n "$missing" ] || exit 0

if [ $can_install = no ]; then
  echo "missing:$missing (as Debian names the packages). Install them first; as root on Debian:" >&2
  echo "  apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

say "apt-get install$missing"
log=$(mktemp)
ticker=''
is_holding=no

clean_up() {
  trap '' INT TERM HUP
  if [ -n "$ticker" ]; then kill "$ticker" 2> /dev/null || true; fi
  if [ $is_holding = yes ]; then let_services_go; fi
  rm -f "$log"
}

# apt-get runs in the foreground: the shell takes a signal only after it, so services are held back until its end.
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

take_turn wait
is_holding=yes
hold_services_back
(
  seconds=0
  while sleep "$progress_s" > /dev/null 2>&1 && kill -0 $$ 2> /dev/null; do
    seconds=$((seconds + progress_s))
    say "… $seconds s: $(tr '\r' '\n' < "$log" | grep . | tail -n 1 | cut -c 1-120)"
  done
) 9<&- &
ticker=$!

# The option waits for dpkg's lock. Those of the package lists and of the downloads have none: whoever finds them taken fails.
run_apt() {
  waited_s=0
  until LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout="$lock_timeout_s" "$@" \
    > "$log" 2>&1 < /dev/null; do
    grep -Eq '^E: (Could not get lock|Unable to lock)' "$log" || return 1
    [ "$waited_s" -lt "$lock_timeout_s" ] || return 1
    [ "$waited_s" -gt 0 ] || say "the package manager is busy; trying again for $((lock_timeout_s / 60)) minutes"
    sleep "$retry_s"
    waited_s=$((waited_s + retry_s))
  done
}

for step in update "install -y --no-install-recommends$missing"; do
  # shellcheck disable=SC2086 # one word a package
  run_apt $step || {
    find_missing "$@"
    drop_replaceable
    [ -n "$missing" ] || exit 0
    tail -n 20 "$log" >&2
    fail "apt-get $step failed (see above)."
  }
done

find_missing "$@"
[ -z "$missing" ] || fail "installed, and still not found:$missing"
