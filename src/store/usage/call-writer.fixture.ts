/**
 * Stores calls of many accounts without a pause, until it is killed:
 * `bun call-writer.fixture.ts FILE`.
 */
import { writeSync } from 'node:fs'
import type { AccountId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore } from '../open-store.ts'

const CALLS = 200
const ACCOUNTS = 90

const [path = ''] = process.argv.slice(2)
const store = await openStore({ path })
let number = 0
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
