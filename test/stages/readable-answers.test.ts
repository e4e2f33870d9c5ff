/**
 * An answer to a stream request is read by its contents, not its content type: events, an error as
 * JSON, or a failure in the first event.
 */
import { describe, expect, test } from 'bun:test'
import {
  CHAT_STREAM_WITH_USAGE,
  MESSAGES_JSON,
  MESSAGES_STREAM,
} from '../support/dialect-samples.ts'
import { plantedCredentialOf } from '../support/in-process-gateway.ts'
import { head, json, piece, type Script, SILENCE, stream } from '../support/scripted-upstream.ts'
import { CHAT, chatBody, GATE, runRow, runRows, type StageRow } from '../support/stage-rows.ts'

const MESSAGES = '/v1/messages'
const FIRST = 'openai/first'
const SECOND = 'groq/second'
const CLAUDE = 'anthropic/claude-opus-5'
const streamed = { stream: true, stream_options: { include_usage: true } }
const asked: StageRow['request'] = { body: chatBody(streamed) }
const askedMessages: StageRow['request'] = {
  path: MESSAGES,
  body: chatBody({ max_tokens: 9, stream: true }),
}
const EVENTS = CHAT_STREAM_WITH_USAGE.join('')
const events = (pieces: readonly (string | Uint8Array)[], type?: string): Script => [
  head(200, type === undefined ? {} : { 'content-type': type }),
  ...pieces.map((each) => piece(each)),
]
const failed = { outcome: 'failed', errorKind: 'upstream_error', usage: null } as const
const error = (members: object) => ({ error: { message: 'said', ...members } })

describe('server-sent events are read', () => {
  const types = ['text/plain', 'application/octet-stream', 'text/html; charset=utf-8', undefined]
  test.each(types)('under the content type %s', (type) =>
    runRow({
      request: asked,
      upstream: [events([EVENTS], type)],
      seen: {
        status: 200,
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
        text: EVENTS,
      },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    }),
  )

  runRows([
    {
      name: 'cut at every byte of their beginning',
      request: asked,
      upstream: [events([...EVENTS.slice(0, 40), EVENTS.slice(40)], 'text/plain')],
      seen: { status: 200, text: EVENTS },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
    {
      name: 'behind a comment',
      request: asked,
      upstream: [events([`: hello\n\n${EVENTS}`], 'text/plain')],
      seen: { status: 200, text: `: hello\n\n${EVENTS}` },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
    {
      name: 'for callers of another dialect',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: asked,
      upstream: [events(MESSAGES_STREAM, 'application/json')],
      seen: {
        status: 200,
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
        contains: ['chat.completion.chunk', '[DONE]'],
      },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
    ...(['<html>', 'data', 'nothing to see', '"data:"'] as const).map(
      (body): StageRow => ({
        name: `and nothing else is: ${body}`,
        request: asked,
        upstream: [events([body], 'text/plain')],
        seen: { status: 502, contains: ['answered with text/plain instead of an event stream'] },
        sent: [{}],
        settled: failed,
      }),
    ),
    {
      name: 'nor an empty answer',
      request: asked,
      upstream: [[head(200)]],
      seen: { status: 502, contains: ['answered with no content type instead of an event stream'] },
      sent: [{}],
      settled: failed,
    },
    {
      name: 'nor, for a target that streams in another form, events',
      gateway: { gates: { [GATE]: ['bedrock/mistral.x'] } },
      request: asked,
      upstream: [events([EVENTS], 'text/event-stream')],
      seen: {
        status: 502,
        contains: ['answered with text/event-stream instead of an event stream'],
      },
      sent: [{}],
      settled: failed,
    },
  ])
})

interface Kind {
  readonly members: object
  readonly status: number
  readonly type: string
  readonly movesOn: boolean
}

const KINDS: readonly Kind[] = [
  { members: { type: 'overloaded_error' }, status: 503, type: 'overloaded_error', movesOn: true },
  { members: { code: 'server_overloaded' }, status: 503, type: 'overloaded_error', movesOn: true },
  { members: { code: 503 }, status: 503, type: 'overloaded_error', movesOn: true },
  { members: { type: 'rate_limit_error' }, status: 429, type: 'rate_limit_error', movesOn: true },
  { members: { code: 429, type: null }, status: 429, type: 'rate_limit_error', movesOn: true },
  {
    members: { type: 'requests', code: 'rate_limit_exceeded' },
    status: 429,
    type: 'rate_limit_error',
    movesOn: true,
  },
  { members: { type: 'server_error' }, status: 502, type: 'api_error', movesOn: true },
  { members: {}, status: 502, type: 'api_error', movesOn: true },
  {
    members: { type: 'invalid_request_error', code: null },
    status: 400,
    type: 'invalid_request_error',
    movesOn: false,
  },
  {
    members: { code: 'model_not_found', type: 'invalid_request_error' },
    status: 404,
    type: 'not_found_error',
    movesOn: true,
  },
  {
    members: { message: 'Insufficient Balance' },
    status: 402,
    type: 'billing_error',
    movesOn: true,
  },
  {
    members: { code: 'context_length_exceeded', type: 'server_error' },
    status: 400,
    type: 'invalid_request_error',
    movesOn: false,
  },
]

const FORMS: readonly (readonly [string, (members: object) => Script])[] = [
  ['JSON', (members) => json(200, error(members))],
  [
    'JSON that is named an event stream',
    (members) => json(200, error(members), { 'content-type': 'text/event-stream' }),
  ],
  ['the first event', (members) => stream([`data: ${JSON.stringify(error(members))}\n\n`])],
  [
    'the first event, under another content type',
    (members) => events([`data: ${JSON.stringify(error(members))}\n\n`], 'text/plain'),
  ],
]

describe.each(FORMS)('an error with a 200 to a stream request, as %s', (_, answer) => {
  describe.each(KINDS.map((kind) => [JSON.stringify(kind.members), kind] as const))(
    '%s',
    (_, { members, status, type, movesOn }) => {
      runRows([
        {
          name: 'has its status and its words, also for callers of another dialect',
          gateway: { gates: { [GATE]: [FIRST] } },
          request: askedMessages,
          upstream: [answer(members)],
          seen: {
            status,
            json: { type: 'error', error: { type } },
            contains: ['message' in members ? 'Insufficient Balance' : 'said'],
          },
          sent: [{}],
          settled: { ...failed, status },
        },
        {
          name: `${movesOn ? 'lets' : 'does not let'} the next target be tried`,
          gateway: { gates: { [GATE]: [FIRST, SECOND] } },
          request: asked,
          upstream: movesOn ? [answer(members), stream([EVENTS])] : [answer(members)],
          seen: movesOn ? { status: 200, text: EVENTS } : { status },
          sent: movesOn ? [{}, {}] : [{}],
          settled: movesOn
            ? { target: SECOND, outcome: 'succeeded' }
            : { ...failed, target: FIRST },
        },
      ])
    },
  )
})

describe('Anthropic’s overloaded_error as the first event', () => {
  const OVERLOADED = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const first = stream([`event: error\ndata: ${JSON.stringify(OVERLOADED)}\n\n`])
  runRows([
    {
      name: 'is 503 in the caller’s form',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: askedMessages,
      upstream: [first],
      seen: { status: 503, json: OVERLOADED },
      sent: [{}],
      settled: { ...failed, status: 503 },
    },
    {
      name: 'is 503 for callers of another dialect',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: asked,
      upstream: [first],
      seen: { status: 503, json: { error: { message: 'Overloaded' } } },
      sent: [{}],
      settled: { ...failed, status: 503 },
    },
    {
      name: 'is retried and moves on',
      gateway: {
        gates: { [GATE]: { targets: [{ model: CLAUDE }, { model: 'groq/x' }], maxRetries: 1 } },
      },
      request: asked,
      upstream: [first, first, stream([EVENTS])],
      seen: { status: 200, text: EVENTS },
      sent: [{}, {}, {}],
      settled: { target: 'groq/x', outcome: 'succeeded', attempts: 3 },
    },
    {
      name: 'in a stream that has begun stays an event',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: askedMessages,
      upstream: [
        stream([MESSAGES_STREAM[0] ?? '', `event: error\ndata: ${JSON.stringify(OVERLOADED)}\n\n`]),
      ],
      seen: { status: 200, contains: ['"overloaded_error"'], ending: 'cut' },
      sent: [{}],
      settled: { outcome: 'failed' },
    },
  ])
})

describe('a whole answer', () => {
  runRows([
    ...[CHAT, MESSAGES].map(
      (path): StageRow => ({
        name: `that is an error has its status: ${path}`,
        gateway: { gates: { [GATE]: [FIRST] } },
        request: { path, body: chatBody({ max_tokens: 9 }) },
        upstream: [json(200, error({ code: 429 }))],
        seen: { status: 429, contains: ['said'] },
        sent: [{}],
        settled: { ...failed, status: 429 },
      }),
    ),
    {
      name: 'with an error beside its text stays one',
      gateway: { gates: { [GATE]: [CLAUDE] } },
      request: { path: MESSAGES, body: chatBody({ max_tokens: 9 }) },
      upstream: [json(200, MESSAGES_JSON)],
      seen: { status: 200 },
      sent: [{}],
      settled: { outcome: 'succeeded' },
    },
  ])
})

test('a server that says nothing after its head is waited for no longer than for any answer', () =>
  runRow({
    request: asked,
    gateway: { timeouts: { firstByteMs: 1_000 } },
    upstream: [[head(200, { 'content-type': 'text/plain' }), SILENCE]],
    seen: { status: 504 },
    sent: [{}],
    settled: { outcome: 'failed', errorKind: 'upstream_timeout' },
  }))

test('an error’s words never show the credential', () =>
  runRow({
    gateway: { gates: { [GATE]: ['openai/first'] } },
    request: asked,
    upstream: [
      json(
        200,
        error({ message: `no: ${plantedCredentialOf('openai')}`, code: 'rate_limit_exceeded' }),
      ),
    ],
    seen: {
      status: 429,
      contains: ['no: [secret]'],
      forbids: [plantedCredentialOf('openai')],
      json: expect.anything() as object,
    },
    sent: [{}],
    settled: { ...failed, status: 429 },
  }))
