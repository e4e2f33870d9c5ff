/**
 * An upstream that encodes its answer, though it was asked for it as it is: nothing of it is
 * inflated, and nothing is passed on.
 */
import { describe } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { head, json, piece, stream } from '../support/scripted-upstream.ts'
import { CHAT_ANSWER, CHAT_EVENTS, chatBody, GATE, runRows, TARGET } from '../support/stage-rows.ts'

const BYTES = gzipSync(Buffer.from(JSON.stringify(CHAT_JSON)))
const encoded = (encoding: string) => [
  head(200, { 'content-type': 'application/json', 'content-encoding': encoding }),
  piece(BYTES),
]
const asked = { headers: { 'accept-encoding': 'identity' } }
const failed = { outcome: 'failed', status: 502, usage: null } as const

describe('an answer that is encoded', () => {
  runRows([
    ...['gzip', 'deflate, gzip', 'br', 'zstd', 'X-Unknown'].map((encoding) => ({
      name: `as ${encoding} is 502, and read no further than its head`,
      upstream: [encoded(encoding)],
      seen: {
        status: 502,
        json: { error: { code: 'bad_upstream_answer' } },
        contains: [`compressed its answer (${encoding.toLowerCase()})`],
        headers: { 'content-encoding': null },
      },
      sent: [{ ...asked, taken: 0, state: 'closed' as const }],
      settled: failed,
    })),
    {
      name: 'in words that no header should have is 502 without them',
      upstream: [encoded('gzip"<b>')],
      seen: { status: 502, contains: ['compressed its answer (something else)'], forbids: ['<b>'] },
      sent: [asked],
      settled: failed,
    },
    {
      name: 'as a stream is 502',
      request: { body: chatBody({ stream: true }) },
      upstream: [stream([BYTES], { headers: { 'content-encoding': 'gzip' } })],
      seen: { status: 502 },
      sent: [asked],
      settled: failed,
    },
    {
      name: 'for a caller of another dialect is 502',
      request: { path: '/v1/messages', body: chatBody({ max_tokens: 9 }) },
      upstream: [encoded('gzip')],
      seen: { status: 502 },
      sent: [asked],
      settled: failed,
    },
    {
      name: 'moves on to the next target',
      gateway: { gates: { [GATE]: [TARGET, 'openai/gpt-4o-mini'] } },
      upstream: [encoded('gzip'), CHAT_ANSWER],
      seen: { status: 200 },
      sent: [asked, asked],
      settled: { outcome: 'succeeded', attempts: 2 },
    },
    {
      name: 'with a refusal keeps the status of the refusal, without its bytes',
      upstream: [
        [
          head(429, {
            'content-type': 'application/json',
            'content-encoding': 'gzip',
            'retry-after': '7',
          }),
          piece(BYTES),
        ],
      ],
      seen: {
        status: 429,
        headers: { 'retry-after': '7', 'content-encoding': null },
        contains: ['HTTP 429'],
      },
      sent: [asked],
      settled: { outcome: 'failed', status: 429 },
    },
  ])
})

describe('an answer that says it is as it is', () => {
  runRows([
    {
      name: 'passes',
      upstream: [json(200, CHAT_JSON, { 'content-encoding': 'Identity' })],
      seen: { status: 200, headers: { 'content-encoding': null } },
      sent: [asked],
      settled: { outcome: 'succeeded' },
    },
    {
      name: 'passes as a stream',
      request: { body: chatBody({ stream: true }) },
      upstream: [CHAT_EVENTS],
      seen: { status: 200 },
      sent: [asked],
      settled: { outcome: 'succeeded' },
    },
  ])
})
