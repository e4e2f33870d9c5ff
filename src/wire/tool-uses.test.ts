import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MAX_USES_OF_CALL, type ToolUses } from '../core/cost.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import type { StreamTap } from './dialect.ts'
import { openaiResponses } from './openai-responses/index.ts'
import { countItems, kindOfTool, readServerToolUse } from './tool-uses.ts'

const search = (action?: string) => ({
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  ...(action === undefined ? {} : { action: { type: action, query: 'q' } }),
})

test.each([
  ['web_search', 'webSearch'],
  ['web_search_20250305', 'webSearch'],
  ['web_search_2025_08_26', 'webSearch'],
  ['file_search', 'fileSearch'],
  // Another tool, with another fee.
  ['web_search_preview', undefined],
  ['web_search_preview_2025_03_11', undefined],
  ['code_execution_20250825', undefined],
  ['__proto__', undefined],
  ['', undefined],
])('the tool %s of a request is %p', (type, kind) => expect(kindOfTool(type)).toBe(kind as never))

describe('an output’s items', () => {
  const rows: readonly (readonly [name: string, output: unknown, uses: ToolUses])[] = [
    [
      'are searches, of the web and of files',
      [search('search'), search(), { type: 'file_search_call' }],
      { webSearch: 2, fileSearch: 1 },
    ],
    ['are no searches where a page was opened', [search('open_page'), search('find_in_page')], {}],
    [
      'are code that was run, and pictures',
      [{ type: 'code_interpreter_call' }, { type: 'image_generation_call', result: 'aGk=' }],
      { codeInterpreter: 1, imageGeneration: 1 },
    ],
    [
      'are the caller’s own tools',
      [
        { type: 'function_call', name: 'web_search' },
        { type: 'computer_call' },
        { type: 'mcp_call' },
      ],
      {},
    ],
    [
      'hold what only looks like an item',
      [
        {
          type: 'message',
          content: [{ type: 'output_text', text: '{"type":"web_search_call"}' }, search()],
        },
        { type: 'file_search_call', results: [{ attributes: search() }] },
      ],
      { fileSearch: 1 },
    ],
    [
      'are no objects',
      [
        null,
        'web_search_call',
        7,
        [search()],
        { type: ['web_search_call'] },
        { type: '__proto___call' },
      ],
      {},
    ],
    ['are no list', { 0: search() }, {}],
    ['are a thousand', Array.from({ length: 1000 }, () => search('search')), { webSearch: 1000 }],
  ]
  test.each(rows)('%s', (_, output, uses) => expect(countItems(output)).toEqual(uses))
})

test('more uses than any call has are no more than the most', () => {
  expect(countItems(Array.from({ length: MAX_USES_OF_CALL + 5 }, () => search()))).toEqual({
    webSearch: MAX_USES_OF_CALL,
  })
})

describe('a report of searches', () => {
  test.each([
    [3, { webSearch: 3 }],
    [0, {}],
    [MAX_USES_OF_CALL, { webSearch: MAX_USES_OF_CALL }],
  ])('of %p counts', (searches, uses) =>
    expect(readServerToolUse({ server_tool_use: { web_search_requests: searches } })).toEqual(uses),
  )
  test.each([
    -1,
    1.5,
    1e308,
    2 ** 53,
    Number.NaN,
    '3',
    null,
    true,
    [[3]],
    {},
    MAX_USES_OF_CALL + 1,
  ])('of %p is none', (searches) =>
    expect(
      readServerToolUse({ server_tool_use: { web_search_requests: searches } }),
    ).toBeUndefined(),
  )
  test.each([undefined, null, 'x', {}, { server_tool_use: null }, { server_tool_use: [1] }])(
    'in %p is none',
    (usage) => expect(readServerToolUse(usage)).toBeUndefined(),
  )
})

describe('a response’s own report of searches', () => {
  const uses = (answer: Record<string, unknown>) => openaiResponses.readToolUses?.(answer)
  const tool_usage = (num_requests: unknown) => ({ tool_usage: { web_search: { num_requests } } })
  test('counts where it is more than its items show', () => {
    const output = [search('search'), { type: 'file_search_call' }]
    expect(uses({ output, ...tool_usage(5) })).toEqual({ webSearch: 5, fileSearch: 1 })
    expect(uses({ output, ...tool_usage(0) })).toEqual({ webSearch: 1, fileSearch: 1 })
    expect(uses({ output: [], ...tool_usage(2) })).toEqual({ webSearch: 2 })
  })
  test('counts alone where the items are not there', () => {
    expect(uses(tool_usage(7))).toEqual({ webSearch: 7 })
    expect(uses(tool_usage(0))).toEqual({})
    expect(uses({})).toBeUndefined()
  })
  test.each([-1, 1.5, 1e308, 2 ** 53, '3', null, [[3]], MAX_USES_OF_CALL + 1])(
    'of %p is none',
    (searches) => expect(uses(tool_usage(searches))).toBeUndefined(),
  )
})

test('a whole answer of Messages counts its blocks where its usage tells nothing', () => {
  const content = [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    { type: 'server_tool_use', id: 'srvtoolu_2', name: 'web_fetch', input: {} },
    { type: 'tool_use', id: 'toolu_1', name: 'web_search', input: { type: 'server_tool_use' } },
    { type: 'text', text: '{"type":"server_tool_use","name":"web_search"}' },
  ]
  const read = (answer: Record<string, unknown>) => anthropicMessages.readToolUses?.(answer)
  expect(read({ content, usage: { input_tokens: 1 } })).toEqual({ webSearch: 1 })
  // A failed search is free.
  expect(read({ content, usage: { server_tool_use: { web_search_requests: 0 } } })).toEqual({})
  expect(read({ usage: {} })).toBeUndefined()
})

describe('a stream', () => {
  const responsesEvent = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
  const item = (verb: 'added' | 'done', of: object, index = 0) =>
    responsesEvent(`response.output_item.${verb}`, { output_index: index, item: of })
  const completed = (output: readonly object[]) =>
    responsesEvent('response.completed', {
      response: { output, usage: { input_tokens: 1, output_tokens: 1 } },
    })
  const announced = { type: 'web_search_call', id: 'ws_1', status: 'in_progress' }

  const block = (of: object) =>
    `event: content_block_start\ndata: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: of })}\n\n`
  const searchBlock = block({
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'web_search',
    input: {},
  })
  const started = `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { usage: { input_tokens: 9, server_tool_use: { web_search_requests: 0 } } } })}\n\n`
  const reported = (searches: unknown) =>
    `event: message_delta\ndata: ${JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3, server_tool_use: { web_search_requests: searches } } })}\n\n`

  const rows: readonly (readonly [
    name: string,
    dialect: { createTap(relay: { hidesUsage: boolean }): StreamTap },
    events: readonly string[],
    uses: ToolUses,
  ])[] = [
    [
      'counts a search once that is announced, done and repeated at the end',
      openaiResponses,
      [item('added', announced), item('done', search('search')), completed([search('search')])],
      { webSearch: 1 },
    ],
    [
      'counts a search that has begun, if its client leaves',
      openaiResponses,
      [item('added', announced), item('done', search('search')), item('added', announced, 1)],
      { webSearch: 2 },
    ],
    [
      'counts no page that was opened',
      openaiResponses,
      [
        item('added', announced),
        item('done', search('search')),
        item('added', announced, 1),
        item('done', search('open_page'), 1),
      ],
      { webSearch: 1 },
    ],
    [
      'counts items that are only done',
      openaiResponses,
      [item('done', search()), item('done', search('open_page'))],
      { webSearch: 1 },
    ],
    [
      'counts the items of its last event alone',
      openaiResponses,
      [completed([search(), search(), { type: 'file_search_call' }])],
      { webSearch: 2, fileSearch: 1 },
    ],
    [
      'keeps what it has seen if its last event repeats nothing',
      openaiResponses,
      [item('added', announced), completed([])],
      { webSearch: 1 },
    ],
    [
      'counts searches of which its last event reports more than it showed',
      openaiResponses,
      [
        item('added', announced),
        responsesEvent('response.completed', {
          response: { output: [], tool_usage: { web_search: { num_requests: 4 } } },
        }),
      ],
      { webSearch: 4 },
    ],
    [
      'counts without names of events',
      openaiResponses,
      [item('added', announced).replace(/^event.*\n/, '')],
      { webSearch: 1 },
    ],
    [
      'counts no text and nothing nested',
      openaiResponses,
      [
        item('done', {
          type: 'message',
          content: [{ type: 'output_text', text: '"web_search_call"', x: search() }],
        }),
        responsesEvent('response.output_text.delta', {
          delta: '"web_search_call"',
          item: search(),
        }),
        item('done', {
          type: 'function_call',
          name: 'f',
          arguments: '{"type":"web_search_call"}',
          inner: search(),
        }),
      ],
      {},
    ],
    [
      'counts an item of a megabyte',
      openaiResponses,
      [item('done', { type: 'image_generation_call', result: 'A'.repeat(1_000_000) })],
      { imageGeneration: 1 },
    ],
    [
      'of Messages counts its blocks until there is a report',
      anthropicMessages,
      [started, searchBlock, searchBlock],
      { webSearch: 2 },
    ],
    [
      'of Messages believes the report',
      anthropicMessages,
      [started, searchBlock, searchBlock, searchBlock, reported(2)],
      { webSearch: 2 },
    ],
    [
      'of Messages keeps its blocks if the report cannot be true',
      anthropicMessages,
      [started, searchBlock, reported(-1)],
      { webSearch: 1 },
    ],
    [
      'of Messages counts no text and no tool of the caller’s',
      anthropicMessages,
      [
        started,
        block({
          type: 'tool_use',
          id: 'toolu_1',
          name: 'web_search',
          input: { x: 'server_tool_use' },
        }),
        block({ type: 'server_tool_use', id: 's', name: 'code_execution', input: {} }),
        `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"server_tool_use web_search"},"content_block":{"type":"server_tool_use","name":"web_search"}}\n\n`,
      ],
      {},
    ],
  ]

  test.each(rows)('%s', (_, dialect, events, uses) => {
    const tap = dialect.createTap({ hidesUsage: false })
    for (const event of events) tap.push(Buffer.from(event))
    expect(tap.toolUses).toEqual(uses)
  })

  test.each(rows)('%s, also in pieces', (_, dialect, events, uses) => {
    const bytes = Buffer.from(events.join(''))
    const tap = dialect.createTap({ hidesUsage: false })
    const step = bytes.length > 10_000 ? 4_097 : 1
    for (let at = 0; at < bytes.length; at += step) tap.push(bytes.subarray(at, at + step))
    expect(tap.toolUses).toEqual(uses)
  })

  test('counts what no upstream should send without fail, and never less than nothing', () => {
    const anyItem = fc.oneof(
      fc.constantFrom(announced, search(), search('search'), search('open_page')),
      fc.object({ key: fc.constantFrom('type', 'action', 'item'), maxDepth: 3 }),
      fc.jsonValue(),
    )
    const anyEvent = fc.tuple(fc.constantFrom('added' as const, 'done' as const), anyItem)
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        const tap = openaiResponses.createTap({ hidesUsage: false })
        for (const [verb, of] of events) tap.push(Buffer.from(item(verb, of as object)))
        for (const count of Object.values(tap.toolUses ?? {}))
          expect(Number.isSafeInteger(count) && count > 0).toBe(true)
      }),
    )
  })
})
