/**
 * Ends a run of tests and removes its folder as soon as its standard input is at its end, which is
 * when whoever started it closes that or is gone, by any signal:
 * `bun scripts/watch-run-folder.ts FOLDER LEADER`.
 */
import { endRun } from './run-folder.ts'

const [path = '', leader = ''] = process.argv.slice(2)
// This process must not end before it has ended everything else.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

// Nothing is sent.
await Bun.stdin.text()
await endRun({ path }, Number(leader))
