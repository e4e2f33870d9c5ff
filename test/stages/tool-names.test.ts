/**
 * Tool names that a vendor refuses are renamed for the vendor, and callers get their own names
 * back.
 */
import { describe, expect, test } from 'bun:test'
import { AWS_STREAM_HEADERS } from '../support/aws-event-stream.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import type { AnswerScript, UpstreamKit } from '../support/upstream-answers/answer-script.ts'
import { bedrockUpstream } from '../support/upstream-answers/bedrock-upstream.ts'
import { mistralUpstream, openaiUpstream } from '../support/upstream-answers/chat-upstreams.ts'
import { responsesUpstream } from '../support/upstream-answers/responses-upstream.ts'
import { anthropicUpstream, geminiUpstream } from '../support/upstream-answers/vendor-upstreams.ts'

// Loaded beforehand, because loading takes real time, which the scripted clock ignores.
await import('../../src/net/sign-aws.ts')

const LONG = `mcp__plugin_${'very_'.repeat(8)}long_server__create_pull_request`
const LONGER = `${LONG}_from_a_template_of_the_organisation_with_reviewers_and_labels_and_milestones`
const DOTTED = 'files.read/all'
const WORD = /^[a-zA-Z0-9_-]+$/

interface Row {
  readonly target: string
  readonly kit: UpstreamKit
  readonly most: number
  readonly streamHeaders?: Readonly<Record<string, string>>
}

const VENDORS: readonly Row[] = [
  { target: 'openai/gpt-4o', kit: openaiUpstream, most: 64 },
  { target: 'openai/gpt-5', kit: responsesUpstream, most: 64 },
  {
    target: 'bedrock/anthropic.claude-opus-4-1-20250805-v1:0',
    kit: bedrockUpstream,
    most: 64,
    streamHeaders: AWS_STREAM_HEADERS,
  },
  { target: 'mistral/mistral-large-latest', kit: mistralUpstream, most: 64 },
  { target: 'deepseek/deepseek-v4', kit: openaiUpstream, most: 64 },
  { target: 'gemini/gemini-2.5-pro', kit: geminiUpstream, most: 64 },
  { target: 'anthropic/claude-opus-4-5', kit: anthropicUpstream, most: 128 },
]

const PARAMETERS = { type: 'object', properties: { path: { type: 'string' } } }

interface Caller {
  readonly path: string
  request(names: readonly string[], called?: string): object
}

const MESSAGES: Caller = {
  path: '/v1/messages',
  request: (names, called) => ({
    model: 'g',
    max_tokens: 64,
    tools: names.map((name) => ({ name, input_schema: PARAMETERS })),
    messages: [
      { role: 'user', content: 'go' },
      ...(called === undefined
        ? []
        : [
            {
              role: 'assistant',
              content: [{ type: 'tool_use', id: 'toolu_1', name: called, input: {} }],
            },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }],
            },
          ]),
    ],
  }),
}

const CHAT: Caller = {
  path: '/v1/chat/completions',
  request: (names, called) => ({
    model: 'g',
    tools: names.map((name) => ({ type: 'function', function: { name, parameters: PARAMETERS } })),
    messages: [
      { role: 'user', content: 'go' },
      ...(called === undefined
        ? []
        : [
            {
              role: 'assistant',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: called, arguments: '{}' } },
              ],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'x' },
          ]),
    ],
  }),
}

/** A vendor's own dialect is relayed unchanged. */
function callersOf({ target }: Row): readonly Caller[] {
  if (/^(?:openai|deepseek)\//.test(target)) return [MESSAGES]
  return target.startsWith('anthropic/') ? [CHAT] : [MESSAGES, CHAT]
}

const rows = VENDORS.flatMap((row) =>
  callersOf(row).map((caller) => ({ ...row, caller, title: `${caller.path} to ${row.target}` })),
)
type Case = (typeof rows)[number]

const answering = (script: Partial<AnswerScript>): AnswerScript => ({ finish: 'stop', ...script })

async function ask(
  { target, caller, kit, streamHeaders }: Case,
  body: object,
  script: AnswerScript,
) {
  const isStream = 'stream' in body
  const gateway = new InProcessGateway({
    gates: { g: [target] },
    upstream: [
      isStream
        ? stream(kit.stream(script), { headers: streamHeaders ?? {} })
        : json(200, JSON.stringify(kit.whole(script))),
    ],
  })
  const seen = await gateway.ask({ path: caller.path, body })
  return { seen, sent: gateway.upstream.sent[0]?.body ?? '' }
}

function namesSent(sent: string): readonly string[] {
  return [...sent.matchAll(/"name":"([^"]*)"/g)].map(([, name = '']) => name)
}

describe.each(rows)('$title', (row) => {
  const { caller, most } = row
  const refused = [LONG, LONGER, DOTTED].filter((name) => name.length > most || !WORD.test(name))

  test('gets names that it accepts, and the caller is told', async () => {
    const { seen, sent } = await ask(
      row,
      caller.request([...refused, 'plain']),
      answering({ text: 'ok' }),
    )
    expect(seen.status).toBe(200)
    expect(seen.headers['x-gatehouse-adapted']).toContain('name')
    expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    const names = namesSent(sent)
    expect(new Set(names).size).toBe(refused.length + 1)
    for (const name of names) {
      expect(name.length).toBeLessThanOrEqual(most)
      expect(name).toMatch(/^[a-zA-Z0-9_.-]+$/)
    }
    for (const name of refused) expect(sent).not.toContain(`"${name}"`)
    expect(names).toContain('plain')
  })

  test.each([{}, { stream: true }])('calls come back under the caller’s name: %p', async (form) => {
    for (const name of refused) {
      const request = caller.request([name])
      const [spelled = ''] = namesSent((await ask(row, request, answering({ text: 'ok' }))).sent)
      const call = { id: 'call_1', name: spelled, arguments: '{"path":"a"}' }
      const script = answering({ calls: [call], finish: 'tool_calls' })
      const { seen } = await ask(row, { ...request, ...form }, script)
      expect(seen.text).toContain(`"name":${JSON.stringify(name)}`)
      expect(seen.text).not.toContain(`"${spelled}"`)
    }
  })

  test('history and tools have the same name in the next turn', async () => {
    for (const name of refused) {
      const { sent } = await ask(row, caller.request([name], name), answering({ text: 'ok' }))
      const names = namesSent(sent)
      expect(names.length).toBeGreaterThanOrEqual(2)
      expect(new Set(names).size).toBe(1)
    }
  })
})
