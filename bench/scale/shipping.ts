/**
 * The cost of writing calls to the journal and of shipping them to the store, for `size` accounts
 * in turn.
 */
import type { CallRecord } from '../../src/core/call.ts'
import { type AccountId, createCallId, type GateId, type KeyId } from '../../src/core/ids.ts'
import { Journal } from '../../src/ledger/journal.ts'
import { Shipper } from '../../src/ledger/shipper.ts'
import { measureHold } from './longest-hold.ts'
import { createProgress } from './progress.ts'
import { BOTH, ofTurns, type Scenario, TURN_BAR } from './scenario.ts'
import { createCalls } from './seed-calls.ts'
import { useStore, withPlace } from './with-store.ts'

/** The calls that one core serves in a second. */
const RECORDS_PER_PASS = 8_000
/** The calls in one turn of the event loop at full load. */
const RECORDS_PER_TURN = 16
const WARM_PASSES = 2
const PASSES = 8

/** Consecutive calls belong to accounts that are far apart. */
function createRecords(first: number, accounts: number): readonly CallRecord[] {
  return createCalls(RECORDS_PER_PASS, (index) => {
    const number = first + index
    const account = (number * 7_919) % accounts
    return {
      id: createCallId(),
      accountId: `acct_${account}` as AccountId,
      keyId: `key_${account * 10 + (number % 3)}` as KeyId,
      gateId: `gate-${number % 3}` as GateId,
      startedAt: Date.now(),
    }
  })
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

export const scenario: Scenario = {
  title: 'records shipped, accounts that they are of',
  sizes: [10, 10_000],
  quickSizes: [10, 1_000],
  stores: BOTH,
  // The reason for three: docs/decisions/0084-ten-thousand-accounts-may-cost-three-times.md.
  bars: { 'shipping a record, µs of processor': { type: 'ratio', most: 3 }, ...TURN_BAR },
  async run(accounts, name) {
    return await withPlace(name, async ({ location, dataFolder }) =>
      useStore(location, async (store) => {
        const journal = new Journal(dataFolder)
        const shipper = new Shipper(journal, (batch, between) =>
          store.calls.insertMany(batch, between),
        )
        const report = createProgress('passes', WARM_PASSES + PASSES)
        let [recording, shipping, number] = [0, 0, 0]
        const record = async () => {
          const made = createRecords(number, accounts)
          number += made.length
          const before = cpuMicros()
          for (let start = 0; start < made.length; start += RECORDS_PER_TURN)
            await Promise.all(
              made.slice(start, start + RECORDS_PER_TURN).map((one) => journal.record(one)),
            )
          return cpuMicros() - before
        }
        for (let pass = 0; pass < WARM_PASSES + PASSES; pass += 1) {
          const ofRecording = await record()
          const before = cpuMicros()
          await shipper.ship()
          report(pass)
          if (pass < WARM_PASSES) continue
          recording += ofRecording
          shipping += cpuMicros() - before
        }
        await record()
        const held = await measureHold(() => shipper.ship())
        journal.close()
        const records = PASSES * RECORDS_PER_PASS
        return {
          'recording a record, µs of processor': recording / records,
          'shipping a record, µs of processor': shipping / records,
          ...ofTurns(held),
        }
      }),
    )
  },
}
