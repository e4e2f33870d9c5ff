import { describe, expect, test } from 'bun:test'
import { testIf } from '../../../test/support/skip-unless.ts'
import { writeCode } from './code-dialog.tsx'
import type { ChatRequest } from './conversation.ts'

/** Everything that a shell or a language might read as its own. */
const NASTY =
  "it's \"quoted\" `id` $(id) $HOME \\ \\n !! %s $'{x}' #{y}\n\ttab é 👋 \u2028 \u0007 </script> ''' \"\"\""

const request: ChatRequest = {
  gate_id: "demo'gate",
  messages: [
    { role: 'system', content: NASTY },
    { role: 'user', content: NASTY },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"O\'Fallon"}' }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '' },
  ],
  temperature: 0.5,
  max_output_tokens: 64,
  reasoning: { effort: 'low' },
  tools: [
    {
      name: 'get_weather',
      strict: true,
      parameters: JSON.parse(
        '{"type":"object","properties":{"__proto__":{},"a-b":{"enum":[null,false,1e21]}},"required":[]}',
      ),
    },
  ],
}

const codeOf = (name: string) =>
  writeCode(request, 'http://gate.test').find((snippet) => snippet.name === name)?.code ?? ''

/** The expected call of the SDK. */
const completion = {
  model: "demo'gate",
  messages: [
    { role: 'system', content: NASTY },
    { role: 'user', content: NASTY },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'get_weather', arguments: '{"city":"O\'Fallon"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '' },
  ],
  tools: [{ type: 'function', function: request.tools?.[0] }],
  temperature: 0.5,
  max_completion_tokens: 64,
  reasoning_effort: 'low',
}

describe('a shell hands curl', () => {
  test.each(['sh', 'bash'])('the exact request (%s)', (shell) => {
    const script = `curl() { for part in "$@"; do printf '%s\\0' "$part"; done; }\n${codeOf('curl')}`
    const ran = Bun.spawnSync([shell, '-c', script], { env: { GATEHOUSE_API_KEY: 'sk-svc-1' } })
    expect(ran.stderr.toString()).toBe('')
    const [address, , authorization, , type, , body = ''] = ran.stdout.toString().split('\0')
    expect([address, authorization, type]).toEqual([
      'http://gate.test/v3/chat',
      'Authorization: Bearer sk-svc-1',
      'Content-Type: application/json',
    ])
    expect(JSON.stringify(JSON.parse(body))).toBe(JSON.stringify(request))
  })
})

test('TypeScript calls the SDK with the request', async () => {
  const calls: unknown[] = []
  const create = (call: unknown) => {
    calls.push(call)
    return { choices: [] }
  }
  const OpenAI = class {
    readonly chat = { completions: { create } }
    constructor(options: unknown) {
      calls.push(options)
    }
  }
  const body = new Bun.Transpiler({ loader: 'ts' }).transformSync(
    codeOf('TypeScript').replace("import OpenAI from 'openai'\n", ''),
  )
  const process = { env: { GATEHOUSE_API_KEY: 'sk-svc-1' } }
  const AsyncFunction = (async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...values: unknown[]) => Promise<void>
  await new AsyncFunction('OpenAI', 'process', 'console', body)(OpenAI, process, {
    log: () => undefined,
  })
  expect(calls[0]).toEqual({ baseURL: 'http://gate.test/v1', apiKey: 'sk-svc-1' })
  expect(JSON.stringify(calls[1])).toBe(JSON.stringify(completion))
})

test('Python has its words for true and null, and every string on one line', () => {
  const code = codeOf('Python')
  expect(code).toContain('    model="demo\'gate",\n')
  expect(code).toContain('"strict": True')
  expect(code).toContain('None,\n')
  expect(code).toContain('False,\n')
  expect(code).toContain(`"content": ${JSON.stringify(NASTY)},`)
  expect(code).not.toMatch(/\b(?:true|false|null)\b/)
})

const python = Bun.which('python3')
testIf(python !== null || process.env.CI !== undefined, 'needs python3')(
  'Python calls the SDK with the request',
  () => {
    const stub = `
import json, sys, types, os
class OpenAI:
    def __init__(self, **options):
        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=self.create))
    def create(self, **call):
        sys.stdout.buffer.write(json.dumps(call).encode())
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=None)])
`
    const script = `${stub}\n${codeOf('Python').replace('from openai import OpenAI\n', '').replace('print(', '(')}`
    const ran = Bun.spawnSync([python ?? '', '-c', script], {
      env: { GATEHOUSE_API_KEY: 'sk-svc-1', PYTHONUTF8: '1' },
    })
    expect(ran.stderr.toString()).toBe('')
    expect(JSON.parse(ran.stdout.toString())).toEqual(completion)
  },
)
