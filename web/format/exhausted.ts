interface BudgetState {
  readonly id: string
  readonly name: string
  readonly keyId: string | null
  readonly gateId: string | null
  readonly resetsAt: string | null
  /** Null: hidden from the reader. */
  readonly isExhausted: boolean | null
  readonly atLimit: string
}

interface QuotaState {
  readonly used: number
  readonly limit: number | null
  readonly resetsAt: string
}

export type LimitScope = 'account' | 'gate' | 'key'

export interface Exhausted {
  readonly id: string
  readonly type: 'budget' | 'quota'
  readonly of: string | undefined
  readonly title: string
  readonly resetsAt: string | null
  /** Whether calls move to other targets before they are refused. */
  readonly isSteering: boolean
}

/** @param scope `account` finds all limits; otherwise the quotas, and the budgets of this kind */
export function findExhausted(
  limits: {
    readonly budgets: readonly BudgetState[]
    readonly quota: { readonly tokens: QuotaState; readonly spend: QuotaState } | undefined
  },
  scope: LimitScope,
): readonly Exhausted[] {
  const quotas =
    limits.quota === undefined
      ? []
      : [['tokens', limits.quota.tokens] as const, ['spend', limits.quota.spend] as const].filter(
          ([, { used, limit }]) => limit !== null && used >= limit,
        )
  const budgets = limits.budgets.filter(
    ({ isExhausted, gateId, keyId }) =>
      isExhausted === true && (scope === 'account' || (scope === 'gate' ? gateId : keyId) !== null),
  )
  return [
    ...quotas.map(([name, { resetsAt }]) => ({
      id: `quota-${name}`,
      type: 'quota' as const,
      of: undefined,
      title:
        name === 'tokens' ? 'The plan’s tokens of this month' : 'The plan’s spend of this month',
      resetsAt,
      isSteering: false,
    })),
    ...budgets.map(({ id, name, keyId, gateId, resetsAt, atLimit }) => ({
      id,
      type: 'budget' as const,
      of: gateId ?? keyId ?? undefined,
      title: `The budget “${name}”`,
      resetsAt,
      isSteering: atLimit !== 'refuse',
    })),
  ]
}
