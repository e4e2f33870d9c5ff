/** How `gates test` shows what it found. Knows no gate and no provider. */
import type { Schemas } from '../contract/api.generated.ts'
import { CliError } from './cli-error.ts'
import { formatTable, printJson, printLine, type Row } from './output.ts'

type GateTest = Schemas['GateTest']

/** @throws CliError when a target failed, so that scripts see it */
export function showTest(test: GateTest, isJson: boolean): void {
  const { results } = test
  if (isJson) printJson(test)
  else printLine(formatTable(['TARGET', 'STATUS', 'MS', 'TOKENS', 'ERROR'], results.map(toRow)))
  const failed = results.filter((result) => result.status !== 'ok').length
  if (failed > 0) throw new CliError('failed', `${failed} of ${results.length} targets failed.`)
}

function toRow({ target, status, latencyMs, usage, error }: GateTest['results'][number]): Row {
  return {
    TARGET: target,
    STATUS: status,
    MS: String(latencyMs),
    TOKENS: usage === undefined ? '-' : `${usage.inputTokens}+${usage.outputTokens}`,
    ERROR: error === undefined ? '' : `${error.code}: ${error.message}`,
  }
}
