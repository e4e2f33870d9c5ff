/**
 * The conformance table holds every endpoint, provider and dialect, is what is published, and says
 * what is known to be so.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  CALLERS,
  runConformance,
  TRANSLATING_ENDPOINTS,
  UPSTREAMS,
} from '../../scripts/conformance/conformance-table.ts'
import { conformanceTexts } from '../../scripts/conformance/conformance-texts.ts'
import { missingKinds } from '../../scripts/conformance/models.ts'
import { conformanceList } from '../../src/contract/conformance.ts'
import { FEATURE_IDS, type FeatureId } from '../../src/contract/conformance-features.ts'
import { catalog } from '../../src/providers/catalog.ts'
import { CHAT_UPSTREAMS } from '../../src/wire/chat-upstreams.fixture.ts'

const found = runConformance()
const { rows, faults } = found

function verdictOf(endpoint: string, provider: string, model: string, feature: FeatureId) {
  const row = rows.find(
    (each) =>
      each.endpoint === endpoint && each.provider === provider && each.model.includes(model),
  )
  return row?.results[feature]
}

test('every loss is named', () => {
  expect(faults).toEqual([])
})

test('every caller dialect has probes, and every upstream dialect has answers', () => {
  expect(
    TRANSLATING_ENDPOINTS.filter(([, dialect]) => !Object.hasOwn(CALLERS, dialect.id)),
  ).toEqual([])
  expect(CHAT_UPSTREAMS.filter((dialect) => !Object.hasOwn(UPSTREAMS, dialect))).toEqual([])
})

test.each(catalog.map((provider) => [provider.id, provider] as const))(
  '%s has a row for each endpoint and each kind of its models',
  (id, provider) => {
    expect(missingKinds(provider)).toEqual([])
    for (const [endpoint] of TRANSLATING_ENDPOINTS)
      expect(rows.filter((row) => row.endpoint === endpoint && row.provider === id)).not.toBeEmpty()
  },
)

test('every feature is probed at some endpoint', () => {
  const asked = new Set(rows.flatMap((row) => Object.keys(row.results)))
  expect(FEATURE_IDS.filter((feature) => !asked.has(feature))).toEqual([])
})

test('the published tables show no text of the probes themselves', () => {
  for (const [, text] of conformanceTexts(found).files) expect(text).not.toMatch(/x_probe|probe-/)
})

test('the published tables are those found, and keep to their contract', async () => {
  for (const [path, text] of conformanceTexts(found).files)
    expect(await Bun.file(join(import.meta.dir, '../..', path)).text()).toBe(text)
  const json = await Bun.file(
    join(import.meta.dir, '../../src/admin/openapi/conformance.generated.json'),
  ).json()
  expect(conformanceList.parse({ data: json, nextCursor: null })).toEqual({
    data: json,
    nextCursor: null,
  })
})

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'

describe('known results:', () => {
  test.each([
    [CHAT, 'openai', 'gpt-5', 'text'],
    [CHAT, 'groq', '', 'unknown'],
    [CHAT, 'vllm', '', 'answerText'],
    [MESSAGES, 'anthropic', 'opus', 'cacheHint'],
    [MESSAGES, 'anthropic', 'opus', 'loop'],
  ] as const)('%s → %s %s: %s is relayed', (endpoint, provider, model, feature) => {
    expect(verdictOf(endpoint, provider, model, feature)).toEqual({ verdict: 'relayed' })
  })

  test.each([
    [CHAT, 'anthropic', 'opus', 'parallelCalls'],
    [CHAT, 'anthropic', 'opus', 'loop'],
    [CHAT, 'gemini', 'gemini-3', 'loop'],
    [CHAT, 'bedrock', 'claude-opus', 'loop'],
    [CHAT, 'cohere', 'reasoning', 'seed'],
    [MESSAGES, 'openai', 'gpt-5', 'effort'],
    [MESSAGES, 'mistral', '', 'errors'],
    [MESSAGES, 'gemini', 'gemini-3', 'usage'],
  ] as const)('%s → %s %s: %s arrives', (endpoint, provider, model, feature) => {
    expect(verdictOf(endpoint, provider, model, feature)).toEqual({ verdict: 'lossless' })
  })

  test.each([
    [CHAT, 'anthropic', 'opus', 'seed', ['seed']],
    [CHAT, 'anthropic', 'sonnet', 'hot', ['temperature']],
    [CHAT, 'gemini', 'gemini-2.0', 'effort', ['reasoning_effort']],
    [CHAT, 'cohere', '', 'unknown', ['unknown_field']],
    [CHAT, 'bedrock', '', 'usage', ['usage.completion_tokens_details.reasoning_tokens']],
    [MESSAGES, 'openai', 'gpt-4o', 'budget', ['thinking']],
    [MESSAGES, 'openai', '', 'topK', ['top_k']],
    [MESSAGES, 'bedrock', '', 'oneCall', ['tool_choice.disable_parallel_tool_use']],
  ] as const)('%s → %s %s: %s is lossy', (endpoint, provider, model, feature, fields) => {
    expect(verdictOf(endpoint, provider, model, feature)).toEqual({ verdict: 'lossy', fields })
  })

  test.each([
    [CHAT, 'bedrock', '', 'imageUrl', 'by address'],
    [CHAT, 'anthropic', '', 'audio', 'no audio'],
    [MESSAGES, 'groq', '', 'pdfUrl', 'only inside the request'],
  ] as const)('%s → %s %s: %s is refused', (endpoint, provider, model, feature, words) => {
    expect(verdictOf(endpoint, provider, model, feature)).toEqual({
      verdict: 'refused',
      message: expect.stringContaining(words),
    })
  })

  test('a feature that a format cannot express is not in its rows', () => {
    expect(verdictOf(MESSAGES, 'gemini', 'gemini-3', 'seed')).toBeUndefined()
    expect(verdictOf(CHAT, 'gemini', 'gemini-3', 'resultError')).toBeUndefined()
  })
})
