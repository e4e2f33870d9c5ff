/**
 * Records refused calls in the journal: for each key and minute a limited number of calls
 * individually, and all further calls in a record per reason.
 */
import { ATTRIBUTION_COLUMNS } from '../core/attribution.ts'
import type { CallRecord } from '../core/call.ts'
import type { Timekeeper } from '../core/clock.ts'
import type { KeyId } from '../core/ids.ts'
import type { Ledger, Refusals } from '../gateway/ports.ts'

/** Bounds what a client that is refused in a loop writes to the disk. */
export const RECORDS_PER_MINUTE = 30
const MINUTE_MS = 60_000

interface KeyMinute {
  records: number
  readonly beyond: Map<string, { first: CallRecord; count: number }>
}

export class RefusalLog implements Refusals {
  readonly #ledger: Ledger
  readonly #clock: Pick<Timekeeper, 'after'>
  readonly #minutes = new Map<KeyId, KeyMinute>()
  #callOff: (() => void) | undefined

  constructor(ledger: Ledger, clock: Pick<Timekeeper, 'after'>) {
    this.#ledger = ledger
    this.#clock = clock
  }

  note(call: CallRecord): void {
    this.#callOff ??= this.#clock.after(MINUTE_MS, () => this.endMinute())
    const minute = this.#minutes.get(call.keyId) ?? { records: 0, beyond: new Map() }
    this.#minutes.set(call.keyId, minute)
    if (minute.records < RECORDS_PER_MINUTE) {
      minute.records += 1
      this.#write(call)
      return
    }
    const reason = `${call.status} ${call.errorKind} ${call.refusalCode ?? ''} ${call.refusedBy ?? ''}`
    const counted = minute.beyond.get(reason)
    if (counted === undefined) minute.beyond.set(reason, { first: call, count: 1 })
    else {
      counted.count += 1
      counted.first = withCommonNames(counted.first, call)
    }
  }

  endMinute(): void {
    this.#callOff?.()
    this.#callOff = undefined
    for (const { beyond } of this.#minutes.values())
      for (const { first, count } of beyond.values()) this.#write({ ...first, refusals: count })
    this.#minutes.clear()
  }

  #write(call: CallRecord): void {
    try {
      this.#ledger.assertWritable()
    } catch {
      return // The journal has reported its failure, and its memory is needed for admitted calls.
    }
    this.#ledger.record(call).catch(() => {})
  }
}

/** A record of several calls keeps a user, a session or tags only if all of the calls have them. */
function withCommonNames(one: CallRecord, other: CallRecord): CallRecord {
  if (ATTRIBUTION_COLUMNS.every((name) => one[name] === other[name])) return one
  const differing = ATTRIBUTION_COLUMNS.filter((name) => one[name] !== other[name])
  return { ...one, ...Object.fromEntries(differing.map((name) => [name, undefined])) }
}
