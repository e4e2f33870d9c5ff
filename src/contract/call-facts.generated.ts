/** What the dashboard tells of a call as plain facts. Made from src/core/call-columns.ts by `make fmt`; edit the list. */

export interface CallFact {
  readonly name: 'target' | 'refusalCode' | 'credential'
  readonly type: 'callId' | 'accountId' | 'keyId' | 'gateId' | 'text' | 'flag' | 'count' | 'positiveCount' | 'httpStatus' | 'moment' | 'durationMs' | 'errorKind' | 'choice'
  readonly title: string
  /** What stands for a value. */
  readonly words?: Readonly<Record<string, string>>
  /** What stands for null; absent: nothing is told then. */
  readonly without?: string
}

export const CALL_FACTS: readonly CallFact[] = [
  { name: 'target', type: 'text', title: 'Target', without: 'none was asked' },
  { name: 'refusalCode', type: 'text', title: 'Refused by the gateway' },
  { name: 'credential', type: 'choice', title: 'Paid with', words: { own: 'the account’s own credential', platform: 'the platform’s credential' } },
]
