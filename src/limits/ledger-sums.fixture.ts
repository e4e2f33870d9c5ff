/** A test ledger that computes all sums with one function. Must not be imported outside tests. */
import type { LedgerScope } from '../core/budget.ts'
import type { LedgerSums } from './load-usage.ts'

type Since = (
  ...asked: Parameters<LedgerSums['since']>
) => Promise<
  readonly (Awaited<ReturnType<LedgerSums['since']>>[number] &
    Pick<LedgerScope, 'keyId' | 'gateId'>)[]
>

/** @param since may return other accounts' sums, which are ignored */
export function createLedgerSums(since: Since): LedgerSums {
  return {
    since,
    ofRanges: (accountId, ranges) =>
      Promise.all(
        ranges.map(async ({ fromMs, untilMs, keyId, gateId }) => {
          const used = { tokens: 0, nanoUsd: 0, unpricedCalls: 0 }
          for (const sum of await since(fromMs, accountId, untilMs)) {
            const isInScope = keyId === undefined ? sum.gateId === gateId : sum.keyId === keyId
            if (sum.accountId !== accountId || !isInScope) continue
            used.tokens += sum.tokens
            used.nanoUsd += sum.nanoUsd
            used.unpricedCalls += sum.unpricedCalls
          }
          return used
        }),
      ),
    budgetBeginnings: async () => new Map(),
  }
}
