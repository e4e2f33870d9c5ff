/**
 * The gateway asks for the usage of each stream. A server that refuses the option gets the client's
 * original request.
 */
import { describe, expect, test } from 'bun:test'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { CHAT, CHAT_EVENTS, chatBody, GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const FIRST = 'vllm/first'
const streamed = chatBody({ stream: true })
const withoutOptions = { body: expect.not.stringContaining('stream_options') as never }
const withOptions = { json: { stream_options: { include_usage: true } } }

const REFUSALS: readonly (readonly [status: number, body: object])[] = [
  [400, { error: { message: "Unknown parameter: 'stream_options'.", param: 'stream_options' } }],
  [400, { error: { message: 'Unrecognized request argument supplied: stream_options' } }],
  [422, { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra' }] }],
  [400, { message: 'include_usage is not permitted' }],
]

describe('a server that refuses stream_options', () => {
  runRows([
    ...REFUSALS.map(
      ([status, body]): StageRow => ({
        name: `is asked once more without: ${JSON.stringify(body)}`,
        gateway: { gates: { [GATE]: [FIRST] } },
        request: { body: streamed },
        upstream: [json(status, body), CHAT_EVENTS],
        seen: { status: 200, headers: { 'x-gatehouse-attempts': '2' } },
        sent: [withOptions, withoutOptions],
        settled: { outcome: 'succeeded', attempts: 2, target: FIRST },
      }),
    ),
    {
      name: 'is asked once more without by callers of another dialect',
      gateway: { gates: { [GATE]: [FIRST] } },
      request: { path: '/v1/messages', body: chatBody({ max_tokens: 9, stream: true }) },
      upstream: [json(...(REFUSALS[0] ?? [400, {}])), CHAT_EVENTS],
      seen: { status: 200, contains: ['message_stop'] },
      sent: [withOptions, withoutOptions],
      settled: { outcome: 'succeeded', attempts: 2, target: FIRST },
    },
    {
      name: 'that refuses again is asked no third time',
      gateway: { gates: { [GATE]: [FIRST] } },
      request: { body: streamed },
      upstream: [json(...(REFUSALS[0] ?? [400, {}])), json(...(REFUSALS[0] ?? [400, {}]))],
      seen: { status: 400 },
      sent: [withOptions, withoutOptions],
      settled: { outcome: 'failed', status: 400, attempts: 2 },
    },
    {
      name: 'that the client itself sent is the client’s mistake',
      gateway: { gates: { [GATE]: [FIRST] } },
      request: { body: chatBody({ stream: true, stream_options: { include_usage: true } }) },
      upstream: [json(...(REFUSALS[0] ?? [400, {}]))],
      seen: { status: 400 },
      sent: [withOptions],
      settled: { outcome: 'failed', status: 400, attempts: 1 },
    },
    {
      name: 'is not one that refuses something else',
      gateway: { gates: { [GATE]: [FIRST] } },
      request: { body: streamed },
      upstream: [json(400, { error: { message: 'bad role' } })],
      seen: { status: 400 },
      sent: [withOptions],
      settled: { outcome: 'failed', status: 400, attempts: 1 },
    },
  ])

  test('is remembered by its address and model for a day, for callers of every dialect', async () => {
    const refusal = json(...(REFUSALS[0] ?? [400, {}]))
    const other = 'vllm/other'
    const gateway = new InProcessGateway({
      gates: { [GATE]: [FIRST], second: [other] },
      upstream: [
        ...[refusal, CHAT_EVENTS, CHAT_EVENTS, CHAT_EVENTS, CHAT_EVENTS, CHAT_EVENTS],
        stream(['data: {"choices":[]}\n\n', 'data: [DONE]\n\n']),
      ],
    })
    const ask = (path = CHAT, model = GATE) =>
      gateway.ask({ path, body: { ...(streamed as object), max_tokens: 9, model } })
    const calls = [() => ask(), () => ask(), () => ask('/v1/messages'), () => ask(CHAT, 'second')]
    for (const each of calls) expect((await each()).status).toBe(200)
    gateway.clock.pass(86_400_000)
    expect((await ask()).status).toBe(200)
    expect(gateway.upstream.sent.map(({ body }) => `${body}`.includes('stream_options'))).toEqual([
      ...[true, false, false, false, true, true],
    ])
  })
})
