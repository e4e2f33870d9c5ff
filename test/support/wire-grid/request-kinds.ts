/** Kinds that are about what an upstream is sent. */
import { expect } from 'bun:test'
import type { JsonRecord } from '../../../src/wire/chat-request.ts'
import { CALLS, IMAGE, PDF } from '../callers/materials.ts'
import type { Kind } from './kind.ts'
import { type Ask, type Asked, ask, type Cell, isRelayed, toScript } from './pairs.ts'
import { sampleOf, TEXT } from './samples.ts'

const STRICT = { 'x-gatehouse-strict': 'true' }
const MESSAGES_ONLY = 'Messages alone has it'
const isMessages = ({ caller }: Cell) => caller.dialect === 'anthropic-messages'

async function send(cell: Cell, asked: Ask): Promise<Asked> {
  return await ask(cell, { answers: [toScript(cell, sampleOf(cell.upstream, TEXT))], ...asked })
}

/** A model that reasons by default, and how to turn reasoning off. */
const THINKERS: Readonly<Record<string, readonly [target: string, off: object]>> = {
  'openai-chat': ['vllm/Qwen/Qwen3-8B', { chat_template_kwargs: { enable_thinking: false } }],
  'openai-responses': ['openai/gpt-5.1', { reasoning: { effort: 'none' } }],
  'anthropic-messages': ['anthropic/claude-opus-5', { thinking: { type: 'disabled' } }],
  'gemini-generate-content': [
    'gemini/gemini-2.5-flash',
    { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
  ],
  'cohere-chat': ['cohere/command-a-reasoning-08-2025', { thinking: { type: 'disabled' } }],
  'mistral-chat': ['mistral/mistral-medium-latest', { reasoning_effort: 'none' }],
  'bedrock-converse': [
    'bedrock/anthropic.claude-opus-5',
    { additionalModelRequestFields: { thinking: { type: 'disabled' } } },
  ],
}

const WITHOUT_THINKING: Readonly<Record<string, JsonRecord>> = {
  'openai-chat': { reasoning_effort: 'none' },
  'anthropic-messages': { thinking: { type: 'disabled' } },
  'gatehouse-chat': { reasoning: { effort: 'none' } },
}

const noThinking: Kind = {
  item: 5,
  name: 'no thinking is asked for with what turns it off',
  async check(cell) {
    const [target = '', off = {}] = THINKERS[cell.upstream.dialect] ?? []
    const members = WITHOUT_THINKING[cell.caller.dialect] ?? {}
    const { seen, sentBody } = await send(cell, { members, targets: [target], headers: STRICT })
    expect([seen.status, seen.headers['x-gatehouse-ignored']]).toEqual([200, undefined])
    expect(sentBody).toMatchObject(isRelayed(cell) ? members : off)
  },
}

const unread: Kind = {
  item: 6,
  name: 'a member that nobody reads is named by its path, and refused for strict callers',
  async check(cell) {
    const content = [{ type: 'text', text: 'probe-prompt', x_new: 1 }]
    const members = { messages: [{ role: 'user', content }] }
    if (cell.caller.dialect === 'gatehouse-chat') {
      // The gateway's own format knows no vendor's members, so unknown members are refused.
      const { seen, sent } = await ask(cell, { members })
      expect([seen.status, sent.length]).toEqual([400, 0])
      expect(seen.text).toContain('x_new')
      return
    }
    const { seen, sentBody } = await send(cell, { members })
    expect(seen.status).toBe(200)
    if (isRelayed(cell)) {
      expect(sentBody).toMatchObject(members)
      return
    }
    expect(seen.headers['x-gatehouse-ignored']).toBe('messages[].content[].x_new')
    const strict = await ask(cell, { members, headers: STRICT })
    expect([strict.seen.status, strict.sent.length]).toEqual([400, 0])
    expect(strict.seen.text).toContain('messages[].content[].x_new')
  },
}

const resultImage: Kind = {
  item: 6,
  name: 'an image that a tool gave reaches the model',
  async check(cell) {
    const { seen, sent } = await send(cell, {
      members: cell.caller.kit.probes.resultImage?.ask ?? {},
    })
    expect(seen.status).toBe(200)
    expect(sent[0]?.body).toContain(IMAGE)
  },
}

const resultText: Kind = {
  item: 6,
  name: 'a search result and a document that a tool gave keep their text',
  absent: (cell) => (isMessages(cell) ? undefined : MESSAGES_ONLY),
  async check(cell) {
    const text = { type: 'text', text: 'Found words.' }
    for (const block of [
      {
        type: 'search_result',
        title: 'The title',
        source: 'https://example.test',
        content: [text],
      },
      { type: 'document', source: { type: 'content', content: [text] } },
    ]) {
      const messages = [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [block] }],
        },
      ]
      const tools = [{ name: 'look', input_schema: { type: 'object' } }]
      const { seen, sent } = await send(cell, { members: { messages, tools } })
      expect([seen.status, seen.headers['x-gatehouse-ignored']]).toEqual([200, undefined])
      expect(sent[0]?.body).toContain('Found words.')
    }
  },
}

const attribution: Kind = {
  item: 7,
  name: 'the attribution block of Claude Code is left out and named',
  absent: (cell) => (isMessages(cell) ? undefined : MESSAGES_ONLY),
  async check(cell) {
    const text = 'x-anthropic-billing-header: cc_version=2.1.332.11b; cc_entrypoint=cli; cch=11b;'
    const system = [
      { type: 'text', text },
      { type: 'text', text: 'You are a tester.' },
    ]
    const { seen, sent } = await send(cell, { members: { system }, headers: STRICT })
    const relayed = isRelayed(cell)
    expect([seen.status, seen.headers['x-gatehouse-adapted']]).toEqual([
      200,
      relayed ? undefined : 'system[0]',
    ])
    expect(sent[0]?.body.includes('billing-header')).toBe(relayed)
    expect(sent[0]?.body).toContain('You are a tester.')
  },
}

/** Features that a client requests by a header, and what each platform of Claude does with them. */
const PLATFORMS: Readonly<
  Record<string, { readonly target: string; readonly sent: string; readonly ignored: string }>
> = {
  'anthropic-messages': {
    target: 'vertex-anthropic/claude-opus-5',
    sent: 'context-1m-2025-08-07',
    ignored: 'anthropic-beta.effort-2025-11-24',
  },
  'bedrock-converse': {
    target: 'bedrock/anthropic.claude-opus-5-v1:0',
    sent: 'context-1m-2025-08-07',
    ignored: '',
  },
}

const betas: Kind = {
  item: 12,
  name: 'betas reach the platforms of Claude that take them, and the others are named',
  absent(cell) {
    if (!isMessages(cell)) return MESSAGES_ONLY
    return PLATFORMS[cell.upstream.dialect] === undefined ? 'no platform of Claude' : undefined
  },
  async check(cell) {
    const platform = PLATFORMS[cell.upstream.dialect]
    if (platform === undefined) throw new Error('There is no such platform.')
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07,effort-2025-11-24' }
    const { seen, sent, sentBody } = await send(cell, { headers, targets: [platform.target] })
    expect(seen.status).toBe(200)
    const taken =
      cell.upstream.dialect === 'bedrock-converse'
        ? JSON.stringify(sentBody.additionalModelRequestFields)
        : (sent[0]?.headers['anthropic-beta'] ?? '')
    expect(taken).toContain(platform.sent)
    if (platform.ignored !== '')
      expect(seen.headers['x-gatehouse-ignored']).toContain(platform.ignored)
  },
}

const calledBefore: Kind = {
  item: 13,
  name: 'a history with calls and no tools is sent with the tools that its vendor demands',
  async check(cell) {
    const asked = cell.caller.kit.probes.parallelCalls?.ask ?? {}
    const { tools: _, ...members } = asked
    const { seen, sentBody } = await send(cell, { members })
    expect([seen.status, seen.status === 200 ? '' : seen.text]).toEqual([200, ''])
    if (isRelayed(cell)) expect(sentBody).toMatchObject(members)
    else if (cell.upstream.dialect === 'anthropic-messages')
      expect(sentBody.tools).toMatchObject(CALLS.map(({ name }) => ({ name })))
    else if (cell.upstream.dialect === 'bedrock-converse')
      expect(sentBody.toolConfig).toMatchObject({
        tools: CALLS.map(({ name }) => ({ toolSpec: { name } })),
      })
    // The others take a history as it is.
    expect(JSON.stringify(sentBody)).toContain('Oslo')
  },
}

const PDF_ALONE: Readonly<Record<string, JsonRecord>> = {
  'openai-chat': {
    type: 'file',
    file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
  },
  'anthropic-messages': {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: PDF },
  },
  'gatehouse-chat': { type: 'file', media_type: 'application/pdf', data: PDF },
}

const pdfAlone: Kind = {
  item: 13,
  name: 'a PDF alone is sent with the text that its vendor demands, or refused by name',
  async check(cell) {
    const content = [PDF_ALONE[cell.caller.dialect] ?? {}]
    const { seen, sent, sentBody } = await send(cell, {
      members: { messages: [{ role: 'user', content }] },
    })
    if (cell.upstream.dialect === 'cohere-chat') {
      expect(seen.status).toBe(400)
      expect(seen.text).toContain('documents')
      return
    }
    expect([seen.status, seen.status === 200 ? '' : seen.text]).toEqual([200, ''])
    expect(sent[0]?.body).toContain(PDF)
    if (cell.upstream.dialect === 'bedrock-converse') {
      const [message] = sentBody.messages as { content: { text?: string }[] }[]
      expect(message?.content.some(({ text = '' }) => text !== '')).toBe(true)
    }
  },
}

export const REQUEST_KINDS: readonly Kind[] = [
  noThinking,
  unread,
  resultImage,
  resultText,
  attribution,
  betas,
  calledBefore,
  pdfAlone,
]
