/** The gate that a call asked for and that there is not, in words. Knows no page. */
import { type Log, NO_GATE } from './log-filter.ts'

/** The ledger's words for an id that it did not keep. */
const NOT_KEPT: Readonly<Record<string, string>> = {
  '(looks like a key)': 'something that looks like an API key, which was not kept',
  '(not a name)': 'something that is no name, which was not kept',
}

export interface SentGate {
  /** Undefined where it was not kept. */
  readonly id: string | undefined
  readonly words: string
}

/** @returns undefined of a call whose gate there was, or that named none that could be read */
export function readSentGate({ gateId, sentGateId }: Log): SentGate | undefined {
  // A gateway of an earlier version does not say.
  if (gateId !== NO_GATE || typeof sentGateId !== 'string') return undefined
  const words = NOT_KEPT[sentGateId]
  if (words !== undefined) return { id: undefined, words }
  return { id: sentGateId, words: `“${sentGateId}”` }
}
