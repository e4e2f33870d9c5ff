/**
 * A turn that continues a program: an earlier program of the model calls tools, no model runs, and
 * the vendor reports 0 + 0, which counts as a report only here.
 */
import { describe } from 'bun:test'
import { json, type Script, stream } from '../support/scripted-upstream.ts'
import { GATE, runRows, type StageRow } from '../support/stage-rows.ts'

const CLAUDE = 'anthropic/claude-opus-4-8'
const GPT = 'openai/gpt-5.4'
const ZERO = { input_tokens: 0, output_tokens: 0 }
const FREE = { nanoUsd: 0, status: 'exact', source: 'scripted' } as const
const NOTHING = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }

const messages = (members: object = {}) => ({
  path: '/v1/messages',
  body: {
    model: GATE,
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [
      { type: 'code_execution_20250825', name: 'code_execution' },
      {
        name: 'look',
        input_schema: { type: 'object' },
        allowed_callers: ['code_execution_20250825'],
      },
    ],
    ...members,
  },
})
const responses = (members: object = {}) => ({
  path: '/v1/responses',
  body: {
    model: GATE,
    input: 'hi',
    tools: [
      { type: 'programmatic_tool_calling' },
      { type: 'function', name: 'look', parameters: {}, allowed_callers: ['programmatic'] },
    ],
    ...members,
  },
})

const call = (caller?: object) => ({
  type: 'tool_use',
  id: 'toolu_1',
  name: 'look',
  input: { a: 1 },
  ...(caller === undefined ? {} : { caller }),
})
const BY_CODE = { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' }
const RESULT = { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} }
const message = (content: readonly object[], usage: object = ZERO) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-8',
  content,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage,
})
const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
const messageEvents = (content: readonly object[], usage: object = ZERO): Script =>
  stream([
    event('message_start', { message: message([], usage) }),
    ...content.flatMap((block, index) => [
      event('content_block_start', { index, content_block: { ...block, input: {} } }),
      event('content_block_delta', {
        index,
        delta: { type: 'input_json_delta', partial_json: '{"a":1}' },
      }),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', {
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 0 },
    }),
    event('message_stop', {}),
  ])

const functionCall = (caller?: object) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'look',
  arguments: '{"a":1}',
  status: 'completed',
  ...(caller === undefined ? {} : { caller }),
})
const BY_PROGRAM = { type: 'program', caller_id: 'prog_1' }
const PROGRAM = { type: 'program', id: 'pr_1', call_id: 'prog_1', code: 'look()', fingerprint: 'f' }
const response = (output: readonly object[], usage: object = { ...ZERO, total_tokens: 0 }) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-5.4',
  output,
  usage,
})
const responseEvents = (output: readonly object[], usage?: object): Script =>
  stream([
    event('response.created', {
      response: { ...response([]), status: 'in_progress', usage: null },
    }),
    event('response.output_item.done', { output_index: 0, item: output[0] }),
    event('response.completed', { response: response(output, usage) }),
  ])
const SAID = { type: 'text', text: 'It is fine.' }
const WRITTEN = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'It is fine.', annotations: [] }],
}

const row = (
  name: string,
  target: string,
  request: NonNullable<StageRow['request']>,
  answer: Script,
  settled: StageRow['settled'],
): StageRow => ({
  name,
  gateway: { gates: { [GATE]: [target] } },
  request,
  upstream: [answer],
  seen: { status: 200, contains: ['"input_tokens":0'] },
  sent: [{}],
  settled,
})

describe('a program’s 0 + 0 is a report, and costs nothing', () => {
  const free = { usage: NOTHING, cost: FREE }
  runRows([
    row('Messages', CLAUDE, messages(), json(200, message([call(BY_CODE)])), free),
    row(
      'Messages with the result of a program before it',
      CLAUDE,
      messages(),
      json(200, message([RESULT, call(BY_CODE)])),
      free,
    ),
    row(
      'a stream of Messages',
      CLAUDE,
      messages({ stream: true }),
      messageEvents([call(BY_CODE), call(BY_CODE)]),
      free,
    ),
    row('Responses', GPT, responses(), json(200, response([functionCall(BY_PROGRAM)])), free),
    row(
      'a stream of Responses',
      GPT,
      responses({ stream: true }),
      responseEvents([functionCall(BY_PROGRAM)]),
      free,
    ),
  ])
})

describe('any other 0 + 0 is no report, and is estimated', () => {
  const estimated = { cost: { status: 'estimated' } as never }
  const direct = { type: 'direct' }
  runRows([
    ...[[SAID], [SAID, call(BY_CODE)], [call(direct)], [call()]].map((content) =>
      row(
        `Messages: ${JSON.stringify(content)}`,
        CLAUDE,
        messages({ tools: [] }),
        json(200, message(content)),
        estimated,
      ),
    ),
    ...[[call(direct)], [call(BY_CODE), call()]].map((content) =>
      row(
        `a stream of Messages: ${JSON.stringify(content)}`,
        CLAUDE,
        messages({ tools: [], stream: true }),
        messageEvents(content),
        estimated,
      ),
    ),
    ...[
      [WRITTEN],
      [PROGRAM, functionCall(BY_PROGRAM)],
      [functionCall(direct)],
      [functionCall()],
    ].map((output) =>
      row(
        `Responses: ${JSON.stringify(output)}`,
        GPT,
        responses(),
        json(200, response(output)),
        estimated,
      ),
    ),
    row(
      'a stream of Responses',
      GPT,
      responses({ stream: true }),
      responseEvents([WRITTEN, functionCall(BY_PROGRAM)]),
      estimated,
    ),
  ])
})

describe('a program’s turn with counts is counted', () => {
  const usage = { input_tokens: 11, output_tokens: 7 }
  const counted = { usage: { ...NOTHING, inputTokens: 11, outputTokens: 7 } }
  const said = { contains: ['"input_tokens":11'] }
  runRows(
    [
      row('Messages', CLAUDE, messages(), json(200, message([call(BY_CODE)], usage)), counted),
      row(
        'Responses',
        GPT,
        responses(),
        json(200, response([functionCall(BY_PROGRAM)], usage)),
        counted,
      ),
    ].map((one) => ({ ...one, seen: { ...one.seen, ...said } })),
  )
})
