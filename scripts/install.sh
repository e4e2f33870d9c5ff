#!/usr/bin/env bash
# Brings node_modules in line with package-lock.json. Runs before anything is installed, so it needs only bash, node and npm.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=node_modules/.installed
needed='Gatehouse needs Node.js 20.19 or newer with npm to install its packages (its runtime, Bun, is one of them).'

fail() {
  printf 'install: %s\n' "$1" >&2
  exit 1
}

command -v node > /dev/null || fail "node was not found. $needed"
command -v npm > /dev/null || fail "npm was not found. $needed"
node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' \
  || fail "node $(node --version) is too old. $needed"

# Two makes at once must not both empty node_modules. Without flock the second one merely installs again.
exec 9< package-lock.json
if command -v flock > /dev/null; then flock 9; fi

bun_runs() {
  node_modules/.bin/bun --version > /dev/null 2>&1
}

# A checkout touches the lock file without changing it: the stamp is a copy of it, so that is seen.
if cmp -s package-lock.json "$stamp" && bun_runs; then
  touch "$stamp"
  exit 0
fi

echo 'install: npm ci'
npm ci --no-audit --no-fund --loglevel=error < /dev/null || fail 'npm ci failed (see above).'

# Where npm does not run install scripts, Bun's own has not yet put its program in place.
bun_runs || node node_modules/bun/install.js > /dev/null || true
bun_runs || fail 'Bun does not start. Is this platform among those that its npm package supports?'

cp package-lock.json "$stamp"
