/** What the recording model says, in each dialect that agents speak. */

export interface Spoken {
  readonly model: string
  readonly isStream: boolean
  /** Absent: it says a word. */
  readonly call:
    | { readonly name: string; readonly args: object | string; readonly namespace?: string }
    | undefined
}

const ID = '0123456789abcdef'
const WORD = 'Done.'
const USAGE = { input_tokens: 900, output_tokens: 30 }

type Event = Readonly<Record<string, unknown>> & { readonly type?: string }

function events(list: readonly Event[], isDone = false): Response {
  const text = list.map((event) => {
    const name = event.type === undefined ? '' : `event: ${event.type}\n`
    return `${name}data: ${JSON.stringify(event)}\n\n`
  })
  const done = isDone ? 'data: [DONE]\n\n' : ''
  return new Response(text.join('') + done, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  })
}

export function answerResponses({ model, isStream, call }: Spoken): Response {
  const reasoning = {
    type: 'reasoning',
    id: `rs_${ID}`,
    summary: [],
    encrypted_content: Buffer.from(`sealed ${ID}`).toString('base64'),
  }
  const searched = {
    type: 'web_search_call',
    id: `ws_${ID}`,
    status: 'completed',
    action: { type: 'search', query: 'gateways' },
  }
  const said = {
    type: 'message',
    id: `msg_${ID}`,
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: WORD, annotations: [] }],
  }
  const called = call && {
    ...(typeof call.args === 'string'
      ? { type: 'custom_tool_call', id: `ctc_${ID}`, input: call.args }
      : { type: 'function_call', id: `fc_${ID}`, arguments: JSON.stringify(call.args) }),
    call_id: `call_${ID}`,
    status: 'completed',
    name: call.name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
  }
  const output = called === undefined ? [said] : [reasoning, searched, called]
  const response = {
    id: `resp_${ID}`,
    object: 'response',
    created_at: 1_767_225_600,
    status: 'completed',
    model,
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    temperature: 1,
    top_p: 1,
    usage: {
      ...USAGE,
      total_tokens: 930,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }
  if (!isStream) return Response.json(response)
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  return events(
    [
      { type: 'response.created', response: begun },
      ...output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        ...(item === said
          ? [
              {
                type: 'response.output_text.delta',
                item_id: said.id,
                output_index,
                content_index: 0,
                delta: WORD,
              },
            ]
          : []),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response },
    ].map((event, sequence_number) => ({ ...event, sequence_number })),
  )
}

export function answerChat({ model, isStream, call }: Spoken): Response {
  const head = { id: `chatcmpl-${ID}`, created: 1_767_225_600, model }
  const usage = { prompt_tokens: 900, completion_tokens: 30, total_tokens: 930 }
  const message =
    call === undefined
      ? { role: 'assistant', content: WORD }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              index: 0,
              id: `call_${ID}`,
              type: 'function',
              function: { name: call.name, arguments: JSON.stringify(call.args) },
            },
          ],
        }
  const finish_reason = call === undefined ? 'stop' : 'tool_calls'
  if (!isStream)
    return Response.json({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    })
  const chunk = { ...head, object: 'chat.completion.chunk' }
  return events(
    [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...chunk, choices: [], usage },
    ],
    true,
  )
}

export function answerMessages({ model, isStream, call }: Spoken): Response {
  const thought = { type: 'thinking', thinking: 'A tool is needed.', signature: btoa(ID) }
  const content =
    call === undefined
      ? [{ type: 'text', text: WORD }]
      : [thought, { type: 'tool_use', id: `toolu_${ID}`, name: call.name, input: call.args }]
  const stop_reason = call === undefined ? 'end_turn' : 'tool_use'
  const message = { id: `msg_${ID}`, type: 'message', role: 'assistant', model, content }
  if (!isStream)
    return Response.json({ ...message, stop_reason, stop_sequence: null, usage: USAGE })
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null, usage: USAGE }
  return events([
    { type: 'message_start', message: begun },
    ...content.flatMap((block, index) => toBlockEvents(block, index)),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: USAGE.output_tokens },
    },
    { type: 'message_stop' },
  ])
}

type Block = Readonly<Record<string, unknown>> & { readonly type: string }

function toBlockEvents(block: Block, index: number): readonly Event[] {
  const [empty, deltas] = toDeltas(block)
  return [
    { type: 'content_block_start', index, content_block: { ...block, ...empty } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function toDeltas(block: Block): readonly [empty: object, deltas: readonly object[]] {
  if (block.type === 'text') return [{ text: '' }, [{ type: 'text_delta', text: block.text }]]
  if (block.type === 'tool_use')
    return [
      { input: {} },
      [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }],
    ]
  return [
    { thinking: '', signature: '' },
    [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ],
  ]
}
