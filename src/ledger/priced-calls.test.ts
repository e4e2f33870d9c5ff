import { expect, test } from 'bun:test'
import { CallList } from '../core/call-batch.ts'
import type { Cost } from '../core/cost.ts'
import { createCallRecord, recordsIn } from './call-record.fixture.ts'
import { PricedCalls } from './priced-calls.ts'

const cost: Cost = { nanoUsd: 7, status: 'exact', source: 'test@1' }

test('a record keeps its counted cost, and one without gets a cost', () => {
  const counted: Cost = { nanoUsd: 3, status: 'estimated', source: 'test@0' }
  const records = [createCallRecord({ cost: counted }), createCallRecord()]
  const priced = recordsIn(new PricedCalls({ costOf: () => cost }, new CallList(records), () => {}))
  expect(priced.map((record) => record.cost)).toEqual([counted, cost])
})

test('every record gets its cost; one without a price is kept without, and reported once', () => {
  const failures: unknown[] = []
  const records = [
    createCallRecord(),
    createCallRecord({ target: 'bad/1' }),
    createCallRecord({ target: 'bad/2' }),
  ]
  const costOf = ({ target }: { target: string | null }) => {
    if (target?.startsWith('bad/')) throw new Error(target)
    return cost
  }
  const priced = recordsIn(
    new PricedCalls({ costOf }, new CallList(records), (error) => failures.push(error)),
  )
  expect(priced.map((record) => record.cost)).toEqual([cost, undefined, undefined])
  expect(priced.map((record) => record.id)).toEqual(records.map((record) => record.id))
  expect(failures.map(String)).toEqual(['Error: bad/1'])
})
