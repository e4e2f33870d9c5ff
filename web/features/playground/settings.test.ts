import { describe, expect, test } from 'bun:test'
import { EXAMPLE_TOOLS, NO_SETTINGS, parseTools, readSettings } from './settings.ts'

const read = (settings: object) => readSettings({ ...NO_SETTINGS, ...settings })

test('empty settings are not sent', () => {
  expect(read({ system: '  ', temperature: ' ' })).toEqual({ system: [], members: {} })
})

test('settings are sent as numbers, and the system prompt unchanged', () => {
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
])('%j is reported at its field', (settings, field) => {
  expect(Object.keys(read(settings).problems ?? {})).toEqual([field])
})

describe('tools', () => {
  const tool = { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true }

  test.each([
    ['this form', [tool]],
    ['one alone', tool],
    ['flat with a type', [{ type: 'function', ...tool }]],
    ['nested', [{ type: 'function', function: tool }]],
  ])('are accepted as %s', (_name, written) => {
    expect(parseTools(JSON.stringify(written))).toEqual({ tools: [tool] })
  })

  test('are empty for an empty text, and the example is valid', () => {
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
  ])('written as %s are refused with the place of the fault', (written, problem) => {
    expect(parseTools(written).problem).toStartWith(problem)
  })
})
