/** Prints the results of a gate's test. */
import type { Schemas } from '../../contract/api.generated.ts'
import { CliError } from '../cli-error.ts'
import { type Columns, formatTable, printJson, printLine } from '../output.ts'

type GateTest = Schemas['GateTest']

/** @throws CliError when a target failed, so that scripts notice the failure */
export function showTest(test: GateTest, isJson: boolean): void {
  const { results } = test
  if (isJson) printJson(test)
  else {
    printLine(formatTable(TEST_COLUMNS, results))
    // Printed below the table, because a column would cut the messages.
    for (const { target, error } of results)
      if (error !== undefined) printLine(`${target}: ${error.code}: ${error.message}`)
  }
  const failed = results.filter((result) => result.status !== 'ok').length
  if (failed > 0) throw new CliError('failed', `${failed} of ${results.length} targets failed.`)
}

const TEST_COLUMNS: Columns<GateTest['results'][number]> = {
  TARGET: ({ target }) => target,
  STATUS: ({ status }) => status,
  MS: ({ latencyMs }) => String(latencyMs),
  TOKENS: ({ usage }) => (usage === undefined ? '-' : `${usage.inputTokens}+${usage.outputTokens}`),
  ERROR: ({ error }) => error?.code ?? '',
}
