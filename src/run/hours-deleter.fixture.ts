/**
 * Stores late calls and deletes their hours without a pause, until it is killed:
 * `bun hours-deleter.fixture.ts FILE FIRST_DAY DAYS`.
 */
import { writeSync } from 'node:fs'
import { createCallRecord } from '../ledger/call-record.fixture.ts'
import { openStore } from '../store/open-store.ts'
import { DAY_MS, HOUR_MS } from '../store/usage/usage-columns.ts'

const [path = '', firstDay, days] = process.argv.slice(2)
const store = await openStore({ path })
const untilMs = Number(firstDay) + Number(days) * DAY_MS
for (let number = 0; ; number += 1) {
  const calls = Array.from({ length: Number(days) }, (_, day) =>
    createCallRecord({
      startedAt: Number(firstDay) + day * DAY_MS + ((number % 20) + 2) * HOUR_MS,
    }),
  )
  await store.calls.insertMany(calls)
  await store.usage.deleteHoursBefore(untilMs)
  writeSync(1, '.')
}
