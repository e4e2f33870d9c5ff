/** How `gates test` shows what it found. Knows no gate and no provider. */
import { CliError } from './cli-error.ts'
import type { JsonObject } from './client.ts'
import { formatTable, printJson, printLine, type Row } from './output.ts'

/** @throws CliError when a target failed, so that scripts see it */
export function showTest(test: JsonObject, isJson: boolean): void {
  const results = (Array.isArray(test.results) ? test.results : []) as readonly JsonObject[]
  if (isJson) printJson(test)
  else printLine(formatTable(['TARGET', 'STATUS', 'MS', 'TOKENS', 'ERROR'], results.map(toRow)))
  const failed = results.filter((result) => result.status !== 'ok').length
  if (failed > 0) throw new CliError('failed', `${failed} of ${results.length} targets failed.`)
}

function toRow({ target, status, latencyMs, usage, error }: JsonObject): Row {
  const tokens = usage as { inputTokens?: unknown; outputTokens?: unknown } | undefined
  const failure = error as { code?: unknown; message?: unknown } | undefined
  return {
    TARGET: String(target),
    STATUS: String(status),
    MS: String(latencyMs),
    TOKENS: tokens === undefined ? '-' : `${tokens.inputTokens}+${tokens.outputTokens}`,
    ERROR: failure === undefined ? '' : `${failure.code}: ${failure.message}`,
  }
}
