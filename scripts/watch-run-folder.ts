/**
 * Ends a test run and removes its folder as soon as standard input ends, which happens when the
 * starting process closes it or ends: `bun scripts/watch-run-folder.ts FOLDER LEADER`.
 */
import { endRun } from './run-folder.ts'

const [path = '', leader = ''] = process.argv.slice(2)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

await Bun.stdin.text()
await endRun({ path }, Number(leader))
