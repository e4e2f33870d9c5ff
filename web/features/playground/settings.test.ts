import { describe, expect, test } from 'bun:test'
import { EXAMPLE_TOOLS, parseTools } from './parse-tools.ts'
import { NO_SETTINGS, readSettings } from './settings.ts'

const read = (settings: object) => readSettings({ ...NO_SETTINGS, ...settings })

test('what is empty is not sent', () => {
  expect(read({ system: '  ', temperature: ' ' })).toEqual({ system: [], members: {} })
})

test('what is set is sent as numbers, and the system prompt as it is', () => {
  expect(
    read({
      system: 'Say {{this}}',
      temperature: '0.5',
      maxOutputTokens: '64',
      effort: 'low',
      tools: '[{"name":"f"}]',
    }),
  ).toEqual({
    system: [{ role: 'system', content: 'Say {{this}}' }],
    members: {
      temperature: 0.5,
      max_output_tokens: 64,
      reasoning: { effort: 'low' },
      tools: [{ name: 'f' }],
    },
  })
})

test.each([
  [{ temperature: 'hot' }, 'temperature'],
  [{ temperature: '2.1' }, 'temperature'],
  [{ temperature: '-1' }, 'temperature'],
  [{ maxOutputTokens: '1.5' }, 'maxOutputTokens'],
  [{ maxOutputTokens: '0' }, 'maxOutputTokens'],
  [{ maxOutputTokens: 'Infinity' }, 'maxOutputTokens'],
  [{ tools: '[' }, 'tools'],
])('%j is told at its field', (settings, field) => {
  expect(Object.keys(read(settings).problems ?? {})).toEqual([field])
})

describe('tools', () => {
  const tool = { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true }

  test.each([
    ['this form', [tool]],
    ['one alone', tool],
    ['flat with a type', [{ type: 'function', ...tool }]],
    ['nested', [{ type: 'function', function: tool }]],
  ])('are taken in %s', (_name, written) => {
    expect(parseTools(JSON.stringify(written))).toEqual({ tools: [tool] })
  })

  test('none are none, and the example is right', () => {
    expect(parseTools('')).toEqual({})
    expect(parseTools('[]')).toEqual({})
    expect(parseTools(EXAMPLE_TOOLS).tools).toHaveLength(1)
  })

  test.each([
    ['[{"name": "f"', 'Not JSON yet'],
    ['[1]', '[0] must be an object'],
    ['[{}]', '[0].name is missing'],
    ['[{"name": "f", "params": {}}]', '[0].params is not known'],
    ['[{"name": "f", "parameters": []}]', '[0].parameters'],
    ['[{"name": "f", "description": 1}]', '[0].description'],
    ['[{"name": "f", "strict": "yes"}]', '[0].strict'],
    ['[{"name": "f"}, {"name": "f"}]', '[1]: there are two'],
    ['[{"type": "web_search"}]', '[0]: only function tools'],
    ['{"type": "function", "function": 1}', 'the tool.function'],
  ])('%s is refused where it is wrong', (written, problem) => {
    expect(parseTools(written).problem).toStartWith(problem)
  })
})
