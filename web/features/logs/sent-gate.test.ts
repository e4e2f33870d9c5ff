import { expect, test } from 'bun:test'
import { readSentGate } from './explain-error.ts'
import type { Log } from './log-filter.ts'

const read = (gateId: string, sentGateId: string | null | undefined) =>
  readSentGate({ gateId, sentGateId } as Log)

test('an unknown gate id is shown as it was kept', () => {
  expect(read('(unknown)', '%3Cb%3E')).toEqual({ id: '%3Cb%3E', words: '“%3Cb%3E”' })
})

test.each(['(looks like a key)', '(not a name)'])(
  'an id that was not kept is explained in words: %s',
  (kept) => {
    expect(read('(unknown)', kept)).toEqual({
      id: undefined,
      words: expect.stringContaining('not kept'),
    })
  },
)

test('a known gate, an unreadable body, and a row of an earlier version show nothing', () => {
  const none = [read('demo', null), read('(unknown)', null), read('(unknown)', undefined)]
  expect(none).toEqual([undefined, undefined, undefined])
})
