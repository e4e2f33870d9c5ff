import { describe, expect, test } from 'bun:test'
import { anthropicMessages } from './anthropic-messages/index.ts'
import type { JsonRecord } from './chat-request.ts'
import type { Dialect } from './dialect.ts'
import { type DefaultedSetting, decideDefaults, isDefaulted } from './gate-defaults.ts'
import { gatehouseChat } from './gatehouse-chat/index.ts'
import { scanJsonObject } from './json-splice.ts'
import { mistralChat } from './mistral-chat/index.ts'
import { mistralFim } from './mistral-fim/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'

const scan = (body: JsonRecord) => scanJsonObject(Buffer.from(JSON.stringify(body)))
const DECIDED = {
  temperature: 0.5,
  topP: 0.9,
  maxOutputTokens: 77,
  reasoningEffort: 'high',
} as const
type Places = Readonly<Record<DefaultedSetting, readonly string[]>>
const SAMPLING = { temperature: ['temperature'], topP: ['top_p'] }
const mistral: Places = {
  ...{ ...SAMPLING, maxOutputTokens: ['max_tokens'], reasoningEffort: ['reasoning_effort'] },
}
const DIALECTS: readonly (readonly [Dialect, Places])[] = [
  [
    openaiChat,
    {
      ...SAMPLING,
      maxOutputTokens: ['max_completion_tokens', 'max_tokens'],
      reasoningEffort: ['reasoning_effort'],
    },
  ],
  [
    openaiResponses,
    { ...SAMPLING, maxOutputTokens: ['max_output_tokens'], reasoningEffort: ['reasoning.effort'] },
  ],
  [
    anthropicMessages,
    { ...SAMPLING, maxOutputTokens: ['max_tokens'], reasoningEffort: ['output_config.effort'] },
  ],
  [mistralChat, mistral],
  [mistralFim, mistral],
  [
    gatehouseChat,
    { ...SAMPLING, maxOutputTokens: ['max_output_tokens'], reasoningEffort: ['reasoning.effort'] },
  ],
]

const at = (place: string, value: string | number | null): JsonRecord => {
  const [name = '', inner] = place.split('.')
  return { [name]: inner === undefined ? value : { [inner]: value } }
}
const cases = DIALECTS.flatMap(([dialect, places]) =>
  (Object.keys(places) as DefaultedSetting[]).flatMap((setting) =>
    places[setting].map((place) => ({ id: dialect.id, dialect, setting, place })),
  ),
)

describe.each(cases)('$id: $setting at $place', ({ dialect, setting, place }) => {
  const { readExplicit } = dialect
  if (readExplicit === undefined) throw new Error('no defaults here')
  const defaults = { [setting]: DECIDED[setting] }
  const decide = (overrides: 'allow' | 'ignore' | 'reject', value: string | number | null) =>
    decideDefaults({ defaults, overrides }, scan(at(place, value)), readExplicit)

  test('is read, and null counts as absent', () => {
    expect(readExplicit(scan(at(place, 7)), setting, 1)).toEqual([{ field: place, value: 7 }])
    expect(readExplicit(scan(at(place, null)), setting, 1)).toEqual([])
    expect(readExplicit(scan({}), setting, 1)).toEqual([])
  })

  test('overrides the gate’s value where it may, and has no effect or is refused where it may not', () => {
    expect(decide('allow', 7)).toEqual({ defaults: {}, ignored: [] })
    expect(decide('ignore', 7)).toEqual({ defaults, ignored: [place] })
    expect(() => decide('reject', 7)).toThrow(
      expect.objectContaining({
        kind: 'invalid_request',
        param: place,
        code: 'overrides_rejected',
      }),
    )
  })

  test('does not count as an override if it equals the gate’s value, and takes that value if absent', () => {
    for (const overrides of ['allow', 'ignore', 'reject'] as const) {
      expect(decide(overrides, DECIDED[setting])).toEqual({ defaults: {}, ignored: [] })
      expect(decide(overrides, null)).toEqual({ defaults, ignored: [] })
    }
  })
})

test('a setting inside a member that is not an object is not read: another check refuses it', () => {
  for (const reasoning of [7, 'x', [1], null])
    expect(openaiResponses.readExplicit?.(scan({ reasoning }), 'reasoningEffort', 'low')).toEqual(
      [],
    )
})

test('the switch and the budget of thinking set the effort too', () => {
  const spoken = (thinking: JsonRecord, decided: string) =>
    anthropicMessages.readExplicit?.(scan({ thinking }), 'reasoningEffort', decided)
  const enabled = { type: 'enabled', budget_tokens: 2048 }
  expect(spoken(enabled, 'high')).toEqual([{ field: 'thinking', value: enabled }])
  expect(spoken({ type: 'adaptive' }, 'high')).toEqual([])
  expect(spoken({ type: 'disabled' }, 'high')).toEqual([
    { field: 'thinking', value: { type: 'disabled' } },
  ])
  expect(spoken({ type: 'disabled' }, 'none')).toEqual([])
  expect(spoken({ type: 'adaptive' }, 'none')).toEqual([
    { field: 'thinking', value: { type: 'adaptive' } },
  ])
  expect(anthropicMessages.readExplicit?.(scan({ thinking: enabled }), 'topP', 1)).toEqual([])
})

test.each([
  ['temperature', 'temperature'],
  ['topP', 'topP'],
  ['maxOutputTokens', 'maxOutputTokens'],
  ['reasoning', 'reasoningEffort'],
  ['reasoning.effort', 'reasoningEffort'],
] as const)(
  '%s that a target refuses is a default of the gate if the gate sets %s',
  (feature, setting) => {
    expect(isDefaulted(feature, { [setting]: DECIDED[setting] })).toBe(true)
    expect(isDefaulted(feature, {})).toBe(false)
    expect(isDefaulted(feature, undefined)).toBe(false)
    const { [setting]: _, ...others } = DECIDED
    expect(isDefaulted(feature, others)).toBe(false)
  },
)
