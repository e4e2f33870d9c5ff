/** The calls that each target of a gate answered, from the hours and from what waits to be added. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { databases } from '../../../test/support/databases.ts'
import type { GateId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import { openStore } from '../open-store.ts'

setDefaultTimeout(60_000)

const FROM_MS = Date.UTC(2026, 0, 1, 12)
const { accountId } = createCallRecord()

test.each(databases)('by gate and target, failures left out, on $name', async (kind) => {
  const database = await kind.create()
  const store = await openStore(database.location)
  try {
    const call = (changes: object) => createCallRecord({ startedAt: FROM_MS + 1, ...changes })
    await store.calls.insertMany([
      call({ target: 'lab/a' }),
      call({ target: 'lab/b' }),
      call({ target: 'lab/a', startedAt: FROM_MS - 1 }),
    ])
    await store.calls.insertMany([
      call({ target: 'lab/b', outcome: 'cancelled' }),
      call({ target: 'lab/b', outcome: 'failed', status: 502, errorKind: 'upstream_error' }),
      call({ target: null, outcome: 'failed', status: 400, errorKind: 'invalid_request' }),
      call({ target: 'lab/b', gateId: 'other' as GateId }),
    ])
    const found = await store.usage.readAnswered(accountId, FROM_MS)
    expect(found.toSorted((one, other) => (one.gateId < other.gateId ? -1 : 1))).toEqual(
      expect.arrayContaining([
        { gateId: 'support' as GateId, target: 'lab/a', calls: 1 },
        { gateId: 'support' as GateId, target: 'lab/b', calls: 2 },
        { gateId: 'other' as GateId, target: 'lab/b', calls: 1 },
      ]),
    )
    expect(found).toHaveLength(3)
  } finally {
    await store.close()
    await database.remove()
  }
})
