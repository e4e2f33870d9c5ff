/**
 * An answer whose list may have thousands of entries: its JSON is written and sent some entries at
 * a time, so that calls go on in between. Must not know what the entries are.
 */
import type { Context, TypedResponse } from 'hono'
import { LoopTurns } from '../core/loop-turns.ts'
import { StreamedAnswer, sendEach } from '../net/streamed-answer.ts'

/** A quarter of a millisecond, where an entry has twenty members. */
const ENTRIES_PER_STEP = 128

interface ListInTurns<Entry, Body> {
  readonly entries: readonly Entry[]
  toBody(entry: Entry): Body
}

/** @returns `head` with one more member `data`: the bodies of the entries, one after the other */
export function answerInTurns<Head extends object, Entry, Body>(
  c: Pick<Context, 'body'>,
  head: Head,
  list: ListInTurns<Entry, Body>,
): Response & TypedResponse<Head & { data: Body[] }, 200, 'json'> {
  const headers = { 'content-type': 'application/json' }
  const { entries, toBody } = list
  const response =
    entries.length <= ENTRIES_PER_STEP
      ? c.body(
          JSON.stringify({ ...head, data: entries.map((entry) => toBody(entry)) }),
          200,
          headers,
        )
      : new StreamedAnswer(sendEach(encodeInTurns(head, list)), { headers })
  // The same bytes as of `c.json`, which would make them at once.
  return response as unknown as Response & TypedResponse<Head & { data: Body[] }, 200, 'json'>
}

async function* encodeInTurns<Entry, Body>(
  head: object,
  { entries, toBody }: ListInTurns<Entry, Body>,
): AsyncGenerator<Uint8Array> {
  const turns = new LoopTurns()
  const encoder = new TextEncoder()
  let before = JSON.stringify({ ...head, data: [] }).slice(0, -2)
  for (let start = 0; start < entries.length; start += ENTRIES_PER_STEP) {
    const some = entries.slice(start, start + ENTRIES_PER_STEP).map((entry) => toBody(entry))
    yield encoder.encode(`${before}${JSON.stringify(some).slice(1, -1)}`)
    before = ','
    await turns.next()
  }
  yield encoder.encode(']}')
}
