import { runChecks } from './checks.ts'
import { runUntilStopped } from './run-command.ts'
import { closingLine } from './test-counts.ts'

await runUntilStopped(async () => {
  const { counts } = await runChecks()
  console.log(closingLine(counts))
  process.exitCode = counts.failed > 0 ? 1 : 0
})
