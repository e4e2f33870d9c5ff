/**
 * Calls that were turned away: each has a record up to a bound for its key and minute, and beyond
 * it is counted.
 */
import { expect, test } from 'bun:test'
import type { CallRecord } from '../core/call.ts'
import type { CallId, KeyId } from '../core/ids.ts'
import { createCallRecord } from './call-record.fixture.ts'
import { RECORDS_PER_MINUTE, RefusalLog } from './refusal-log.ts'

function open({ isWritable = true } = {}) {
  const written: CallRecord[] = []
  let endMinute: (() => void) | undefined
  let timers = 0
  const log = new RefusalLog(
    {
      assertWritable() {
        if (!isWritable) throw new Error('full')
      },
      async record(call) {
        written.push(call)
      },
    },
    {
      after(_ms, run) {
        timers += 1
        endMinute = run
        return () => {}
      },
    },
  )
  const note = (id: string, members: Partial<CallRecord> = {}) =>
    log.note({
      ...createCallRecord(),
      ...{ id: id as CallId, status: 429, errorKind: 'rate_limited', refusals: 1, ...members },
    })
  return { log, note, written, endMinute: () => endMinute?.(), timers: () => timers }
}

test('the first refusals of a key and minute are single records, and later ones are counted by reason', () => {
  const { note, written, endMinute, timers } = open()
  for (let index = 0; index < RECORDS_PER_MINUTE; index += 1) note(`own_${index}`)
  for (let index = 0; index < 1000; index += 1) note(`beyond_${index}`)
  note('odd', { status: 400, errorKind: 'invalid_request' })
  note('other', { keyId: 'key_other' as KeyId })
  expect(written.map(({ refusals }) => refusals)).toEqual(Array(RECORDS_PER_MINUTE + 1).fill(1))
  expect(written.at(-1)?.id).toBe('other' as CallId)
  endMinute()
  expect(written.slice(RECORDS_PER_MINUTE + 1)).toMatchObject([
    { id: 'beyond_0', status: 429, refusals: 1000 },
    { id: 'odd', status: 400, refusals: 1 },
  ])
  expect(timers()).toBe(1)
})

test('the next minute starts again, and nothing is written twice', () => {
  const { log, note, written, endMinute } = open()
  for (let index = 0; index <= RECORDS_PER_MINUTE; index += 1) note(`first_${index}`)
  endMinute()
  const before = written.length
  note('next')
  expect(written.slice(before)).toMatchObject([{ id: 'next', refusals: 1 }])
  log.endMinute()
  expect(written).toHaveLength(before + 1)
})

test('nothing is kept while the journal cannot be written', () => {
  const { note, written, endMinute } = open({ isWritable: false })
  for (let index = 0; index < 100; index += 1) note(`call_${index}`)
  endMinute()
  expect(written).toEqual([])
})
