/** Rows of one account added up by place, few and many. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { GateId } from '../../core/ids.ts'
import { createCallRecord } from '../../ledger/call-record.fixture.ts'
import type { UsageTable } from '../schema.ts'
import { PlaceSums } from './place-sums.ts'
import { sumCalls } from './sum-calls.ts'
import { addRows } from './usage-hours.ts'

const HOUR_MS = 3_600_000

/** A call's own row, of one of so many places. */
function rowsOf(places: readonly number[]): UsageTable[] {
  return places.flatMap((place, index) =>
    sumCalls([
      createCallRecord({
        gateId: `gate-${place % 5}` as GateId,
        target: place % 2 === 0 ? 'openai/one' : null,
        status: place % 3 === 0 ? 200 : 502,
        startedAt: Math.floor(place / 6) * HOUR_MS,
        durationMs: 10 + (index % 7),
        firstByteMs: index % 4 === 0 ? null : 5,
      }),
    ]),
  )
}

function addAll(rows: readonly UsageTable[]): readonly UsageTable[] {
  const sums = new Map<string, UsageTable>()
  addRows(sums, rows)
  return [...sums.values()]
}

test('rows come to the same sums whether they are of few places or of many, however they come', () => {
  const notes = fc.array(fc.array(fc.nat(40), { maxLength: 12 }), { maxLength: 8 })
  fc.assert(
    fc.property(notes, (places) => {
      const sums = new PlaceSums()
      for (const some of places) sums.add(rowsOf(some))
      expect(sums.rows).toEqual(addAll(places.flatMap(rowsOf)))
    }),
  )
})
