/**
 * Published frameworks with their defaults through gates of every vendor. The requests are recorded
 * (test/support/framework-requests.ts), because the Python frameworks are no npm packages, and those
 * for JavaScript would add more than 60 MB.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { startSandbox } from '../../src/sandbox/start-sandbox.ts'
import { createGate } from '../support/control-plane.ts'
import { FRAMEWORKS } from '../support/framework-requests.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { vendorsOfSandbox } from '../support/vendors-of-sandbox.ts'

setDefaultTimeout(180_000)

const TARGETS: Readonly<Record<string, string>> = {
  'gpt-5': 'openai/gpt-5',
  'claude-opus-5-5': 'anthropic/claude-opus-5-5',
  // Without response schemas.
  'claude-sonnet-4': 'anthropic/claude-sonnet-4-20250514',
  'gemini-2.5-pro': 'gemini/gemini-2.5-pro',
  'gemini-3-pro': 'gemini/gemini-3-pro',
  bedrock: 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
  cohere: 'cohere/echo',
  mistral: 'mistral/echo',
}
const GATES = Object.keys(TARGETS)

const sandbox = startSandbox()
let gatehouse: Gatehouse

beforeAll(async () => {
  gatehouse = await startGatehouse({ environment: vendorsOfSandbox(sandbox.url) })
  for (const [id, target] of Object.entries(TARGETS)) await createGate(gatehouse, id, target)
  await createGate(gatehouse, 'off', 'openai/gpt-5', { adapt: 'off' })
})
afterAll(async () => {
  await gatehouse?.remove()
  await sandbox.stop()
})

interface Message {
  readonly role: string
  readonly content?: string | null
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}
type Body = Readonly<Record<string, unknown>>

function send(model: string, messages: readonly object[], members: object): Promise<Response> {
  return fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, ...members }),
  })
}

async function ask(model: string, messages: readonly object[], members: object): Promise<Message> {
  const answer = await send(model, messages, members)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, expect.stringContaining('"choices"')])
  const { choices } = JSON.parse(text) as { readonly choices: readonly [{ message: Message }] }
  return choices[0].message
}

const user = (content: string) => ({ role: 'user', content })

describe.each(GATES)('a gate of %s', (gate) => {
  test.each([...FRAMEWORKS])('serves $framework', async ({ members, tools, structured }) => {
    expect((await ask(gate, [user('Hello')], members)).content).toContain('Sandbox echo')
    const stream = await (await send(gate, [user('Hello')], { ...members, stream: true })).text()
    expect(stream).toContain('[DONE]')
    expect(stream).not.toContain('"error"')
    if (tools !== undefined) {
      const turn = user('What does get_weather say of "Oslo"?')
      const called = await ask(gate, [turn], { ...members, ...tools })
      const [call] = called.tool_calls ?? []
      expect(call?.function.name).toBe('get_weather')
      expect(call?.function.arguments).toContain('Oslo')
      const result = { role: 'tool', tool_call_id: call?.id, content: '7 degrees' }
      const end = await ask(gate, [turn, called, result], { ...members, ...tools })
      expect(end.content).toContain('7 degrees')
    }
    if (structured !== undefined) {
      const answer = await ask(gate, [user('Report "Oslo", 7 degrees')], {
        ...members,
        ...structured,
      })
      const text = answer.tool_calls?.[0]?.function.arguments ?? answer.content ?? ''
      expect(JSON.parse(text) as Body).toMatchObject({
        city: expect.any(String),
        degrees: expect.any(Number),
      })
    }
  })
})

test.each(FRAMEWORKS.filter(({ members }) => 'temperature' in members))(
  'a gate that adapts nothing gives $framework the refusal of gpt-5',
  async ({ members }) => {
    const answer = await send('off', [user('Hello')], members)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain("Unsupported value: 'temperature'")
  },
)
