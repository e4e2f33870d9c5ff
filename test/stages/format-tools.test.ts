/** Answers by a schema from models without response schemas: the schema is a tool that they call. */
import { describe, expect, test } from 'bun:test'
import type { JsonRecord } from '../../src/wire/chat-request.ts'
import type { AnswerScript } from '../support/upstream-answers/answer-script.ts'
import {
  type Cell,
  GRID_CALLERS,
  ask as send,
  toScript,
  upstreamOf,
} from '../support/wire-grid/pairs.ts'

const ARGUMENTS = '{"city":"Oslo","degrees":7}'
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' }, list: { type: 'array' } },
  required: ['city', 'degrees'],
}

const FORMATS: Readonly<Record<string, (schema: JsonRecord, rest?: JsonRecord) => JsonRecord>> = {
  'openai-chat': (schema, rest = {}) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'weather', schema, ...rest } },
  }),
  'gatehouse-chat': (schema, rest = {}) => ({
    response_format: { type: 'json_schema', name: 'weather', schema, ...rest },
  }),
  'anthropic-messages': (schema) => ({
    output_config: { format: { type: 'json_schema', schema } },
  }),
}
const TARGETS = {
  'anthropic-messages': 'anthropic/claude-sonnet-4-20250514',
  'bedrock-converse': 'bedrock/anthropic.claude-sonnet-4-20250514-v1:0',
} as const
const CELLS = Object.entries(TARGETS).flatMap(([dialect, target]) =>
  GRID_CALLERS.filter((caller) => FORMATS[caller.dialect] && caller.dialect !== dialect).map(
    (caller) => ({
      title: `${caller.path} to ${target}`,
      cell: { caller, upstream: { ...upstreamOf(dialect), target }, isStream: false } as Cell,
      formatOf: FORMATS[caller.dialect] ?? (() => ({})),
    }),
  ),
)

async function ask(cell: Cell, members: JsonRecord, script: AnswerScript, headers = {}) {
  const { whole, stream } = cell.upstream.kit
  const sample = { whole: whole(script) ?? {}, stream: stream(script) }
  return await send(cell, { members, headers, answers: [toScript(cell, sample)] })
}

const calling = (name: string, args = ARGUMENTS): AnswerScript => ({
  calls: [{ id: 'toolu_1', name, arguments: args }],
  finish: 'tool_calls',
})

/** The name of the tool that the model has to call, and the tool's schema. */
function toolIn({ tools, tool_choice, toolConfig }: ReturnType<typeof JSON.parse>) {
  const [tool, ...others] = tools ?? toolConfig.tools
  expect(others).toEqual([])
  const chosen = tool_choice ?? toolConfig.toolChoice.tool
  const { name, input_schema, inputSchema } = tool.toolSpec ?? tool
  expect(chosen.name).toBe(name)
  return { name, schema: input_schema ?? inputSchema.json }
}

describe.each(CELLS)('$title', ({ cell, formatOf }) => {
  const { kit, dialect } = cell.caller
  const read = (isStream: boolean, text: string) =>
    isStream ? kit.readStream(text) : kit.readAnswer(JSON.parse(text) as JsonRecord)

  test.each([false, true])(
    'the arguments are the text of the answer, streamed: %s',
    async (isStream) => {
      const asked = { ...cell, isStream }
      const name = dialect === 'anthropic-messages' ? 'answer' : 'weather'
      const { seen, sentBody } = await ask(asked, formatOf(SCHEMA), calling(name))
      expect([seen.status, seen.text]).toEqual([200, expect.any(String)])
      const tool = toolIn(sentBody)
      expect(tool.name).toBe(name)
      expect(tool.schema).toEqual({
        ...SCHEMA,
        properties: { ...SCHEMA.properties, list: { type: 'array', items: {} } },
      })
      const answer = read(isStream, seen.text)
      const plain = read(
        isStream,
        (await ask(asked, {}, { text: ARGUMENTS, finish: 'stop' })).seen.text,
      )
      expect(answer).toEqual(plain)
      expect(seen.headers['x-gatehouse-adapted']).toMatch(
        /^(?:response_format|output_config\.format)$/,
      )
      expect(seen.headers).not.toHaveProperty('x-gatehouse-ignored')
    },
  )

  test.each([false, true])('no arguments are an empty object, streamed: %s', async (isStream) => {
    const { seen } = await ask({ ...cell, isStream }, formatOf(SCHEMA), calling('weather', '{}'))
    expect(read(isStream, seen.text).text).toBe('{}')
  })

  test.each([false, true])('an answer in text stays as it is, streamed: %s', async (isStream) => {
    const script: AnswerScript = { text: 'No.', finish: 'stop' }
    const { seen } = await ask({ ...cell, isStream }, formatOf(SCHEMA), script)
    expect(read(isStream, seen.text).text).toBe('No.')
  })

  test('x-gatehouse-strict lets a schema pass', async () => {
    const strict = { 'x-gatehouse-strict': 'true' }
    expect((await ask(cell, formatOf(SCHEMA), calling('weather'), strict)).seen.status).toBe(200)
    if (dialect === 'anthropic-messages') return
    const members = formatOf(SCHEMA, { strict: true })
    const { seen } = await ask(cell, members, calling('weather'))
    expect(seen.headers['x-gatehouse-ignored']).toMatch(/strict$/)
    expect((await ask(cell, members, calling('weather'), strict)).seen.status).toBe(400)
  })

  test('a schema of no object, and one beside tools, is left out and named', async () => {
    const list = formatOf({ type: 'array', items: { type: 'string' } })
    for (const members of [list, { ...formatOf(SCHEMA), ...kit.probes.tools?.ask }]) {
      const { seen } = await ask(cell, members, { text: 'ok', finish: 'stop' })
      expect(seen.headers['x-gatehouse-ignored']).toMatch(/response_format|output_config/)
      expect(read(false, seen.text).text).toBe('ok')
    }
  })
})
