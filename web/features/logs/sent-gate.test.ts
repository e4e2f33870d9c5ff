import { expect, test } from 'bun:test'
import type { Log } from './log-filter.ts'
import { readSentGate } from './sent-gate.ts'

const read = (gateId: string, sentGateId: string | null | undefined) =>
  readSentGate({ gateId, sentGateId } as Log)

test('an id that no gate has is shown as it was kept', () => {
  expect(read('(unknown)', '%3Cb%3E')).toEqual({ id: '%3Cb%3E', words: '“%3Cb%3E”' })
})

test.each(['(looks like a key)', '(not a name)'])(
  'what was not kept is told in words: %s',
  (kept) => {
    expect(read('(unknown)', kept)).toEqual({
      id: undefined,
      words: expect.stringContaining('not kept'),
    })
  },
)

test('a gate that there is, a body that could not be read, and a row of an earlier version say nothing', () => {
  const none = [read('demo', null), read('(unknown)', null), read('(unknown)', undefined)]
  expect(none).toEqual([undefined, undefined, undefined])
})
