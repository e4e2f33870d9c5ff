/** `make check`: every check, no test. */
import { runChecks } from './checks.ts'
import { stopCommandsOnSignals } from './run-command.ts'
import { closingLine } from './test-counts.ts'

stopCommandsOnSignals()
const counts = await runChecks()
console.log(closingLine(counts))
process.exitCode = counts.failed > 0 ? 1 : 0
