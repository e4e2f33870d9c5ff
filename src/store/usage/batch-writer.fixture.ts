/**
 * Stores calls of many accounts and settles their notes without a pause, until it is killed:
 * `bun batch-writer.fixture.ts FILE`.
 */
import { writeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AccountId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore } from '../open-store.ts'

const CALLS = 200
const ACCOUNTS = 90

const [path = ''] = process.argv.slice(2)
const store = await openStore({ path })
let number = 0
const settle = async (): Promise<never> => {
  for (;;) {
    await store.usage.rollUpDays(0)
    await nextTurn()
  }
}
void settle()
for (;;) {
  const calls = Array.from({ length: CALLS }, () => {
    number += 1
    return createCallRecord({
      accountId: `acct_${number % ACCOUNTS}` as AccountId,
      startedAt: 1_000,
    })
  })
  await store.calls.insertMany(calls)
  writeSync(1, '.')
}
