/**
 * A run for `run-in-folder.test.ts`, whose program leaves behind all that a program can: a file, a
 * child, and two children in sessions of their own. `bun run-in-folder.fixture.ts ends|waits`
 */
import { runUntilStopped } from './run-command.ts'
import { runInFolder } from './run-in-folder.ts'

/**
 * Of those in sessions of their own, one names the folder in its environment, the other in its
 * command line alone; its child nowhere.
 */
const SCRIPT = `
  sleep 600 > /dev/null & child=$!
  setsid sh -c ': > "$TMPDIR/one"; exec sleep 600' > /dev/null & by_environment=$!
  env -i setsid sh -c ': > "$0"; sleep 601; exit' "$TMPDIR/two" > /dev/null & by_command=$!
  until [ -e "$TMPDIR/one" ] && [ -e "$TMPDIR/two" ]; do sleep 0.01; done
  rm "$TMPDIR/one" "$TMPDIR/two"
  echo text > "$TMPDIR/forgotten"
  echo "running $child $by_environment $by_command"
  [ "$0" = ends ] || wait`

await runUntilStopped(async () => {
  const { leftovers } = await runInFolder(
    () => ({ command: ['sh', '-c', SCRIPT, process.argv[2] ?? ''] }),
    async () => undefined,
    { timeLimitMs: 60_000, capture: false, settleTimeoutMs: 200 },
  )
  for (const line of leftovers) console.log(line)
})
