/**
 * A call as the ledger keeps it: every number a whole one from 0 up, as the store's columns are.
 * Its line in the journal and its row in the store are both made from this, so they agree. Must not
 * know lines, files or tables.
 */
import type { CallRecord } from '../core/call.ts'
import { isWhole, makeWhole } from './call-line.generated.ts'

/**
 * A provider that reports a count of 1.5 or 1e30 must not be able to make a row that the store
 * refuses again and again: such usage is none, such a cost is none (it is priced later), and what
 * is no time at all becomes 0.
 * @returns the call itself where nothing is to be changed, which is nearly always
 */
export function toWholeRecord(call: CallRecord): CallRecord {
  return isWhole(call) ? call : makeWhole(call)
}
