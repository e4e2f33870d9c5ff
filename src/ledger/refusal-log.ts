/**
 * Brings calls that were turned away into the journal: so many for each key and minute have a
 * record of their own, and those beyond are counted in one record for each reason. It must not know
 * why a call was turned away.
 */
import type { CallRecord } from '../core/call.ts'
import type { Timekeeper } from '../core/clock.ts'
import type { KeyId } from '../core/ids.ts'
import type { Ledger, Refusals } from '../gateway/ports.ts'

/** A client that is refused in a loop must not be able to fill the disk. */
export const RECORDS_PER_MINUTE = 30
const MINUTE_MS = 60_000

interface KeyMinute {
  records: number
  /** By status, kind, code and limit: of each the first call, and how many there were. */
  readonly beyond: Map<string, { readonly first: CallRecord; count: number }>
}

export class RefusalLog implements Refusals {
  readonly #ledger: Ledger
  readonly #clock: Pick<Timekeeper, 'after'>
  /** Of this minute: never more than there are keys. */
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
    else counted.count += 1
  }

  /** Writes what was counted. */
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
      return // The journal has told of its failure; what it keeps in memory meanwhile is for calls that were made.
    }
    this.#ledger.record(call).catch(() => {})
  }
}
