/** The cost and tokens of a call as headers, for gates that ask for them. */
import type { CallRecord } from '../../core/call.ts'
import { toUsdText } from '../../core/money.ts'

/** Contains only headers of known figures. */
export function toUsageHeaders(
  record: Pick<CallRecord, 'cost' | 'usage'> | undefined,
): Record<string, string> {
  const nanoUsd = record?.cost?.nanoUsd ?? null
  const usage = record?.usage ?? null
  return {
    ...(nanoUsd === null ? {} : { 'x-gatehouse-cost-usd': toUsdText(nanoUsd) }),
    ...(usage === null
      ? {}
      : {
          'x-gatehouse-input-tokens': String(usage.inputTokens),
          'x-gatehouse-output-tokens': String(usage.outputTokens),
          'x-gatehouse-cached-input-tokens': String(usage.cachedInputTokens),
        }),
  }
}
