/**
 * The gateway's own sandbox (src/sandbox/): no account, any key. Its address depends on the command
 * that starts it.
 */

import type { RequestRulesRow } from '../wire/fit/request-rules.ts'
import { anthropic, DISABLED } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { cohere } from './cohere.ts'
import { defineProvider } from './define.ts'
import { gemini } from './gemini.ts'
import { ANTHROPIC_RULES, BEDROCK_RULES, OPENAI_RULES } from './request-rules.ts'

const DOCS = 'https://github.com/gatehouse/gatehouse/blob/main/src/sandbox/README.md'
const ANY_KEY = 'gatehouse-sandbox-any-key'

/** The basic models; every fault of the sandbox is a model too. */
const MODELS = [
  'echo',
  'echo-reasoning',
  '429',
  '500',
  'slow',
  'hang',
  'cut-mid-stream',
  'bad-json',
]

const REASONING_MODELS = /reasoning/

export const sandbox = defineProvider({
  id: 'sandbox',
  name: 'Sandbox',
  docs: DOCS,
  isFree: true,
  keyCheck: { path: '/v1/models' },
  knownModels: MODELS,
  endpoints: {
    'openai-responses': { path: '/v1/responses', translatedModels: REASONING_MODELS },
    'openai-chat': { path: '/v1/chat/completions', countsStreamsOnRequest: true },
    'mistral-fim': { path: '/v1/fim/completions' },
    'mistral-chat': { path: '/mistral/v1/chat/completions' },
    'openai-embeddings': { path: '/v1/embeddings' },
  },
  reasoningModels: REASONING_MODELS,
  traits: [[REASONING_MODELS, { reasoning: 'effort', refusesSampling: true }]],
  rules: OPENAI_RULES,
  fallbackKey: ANY_KEY,
})

/** The sandbox checks response schemas as Claude's models do, whatever the model's name. */
const CLOSED_SCHEMAS: RequestRulesRow = {
  models: /./,
  source: DOCS,
  checked: '2026-11',
  rules: { closedSchemas: true },
}

/** Serves the sandbox as another provider, so calls are translated as for that provider. */
export const sandboxAnthropic = defineProvider({
  id: 'sandbox-anthropic',
  name: 'Sandbox, as Anthropic',
  docs: DOCS,
  isFree: true,
  knownModels: MODELS,
  keyHeader: anthropic.keyHeader,
  headers: anthropic.headers,
  // The sandbox only imitates the format, and stores and runs nothing.
  endpoints: {
    ...anthropic.endpoints,
    'anthropic-messages': { path: '/v1/messages', checksSignatures: true },
  },
  traits: [
    [
      REASONING_MODELS,
      {
        reasoning: 'adaptive',
        refusesSampling: true,
        defaultMaxOutputTokens: 16_384,
        withoutThinking: DISABLED,
      },
    ],
    [/./, { reasoning: 'budget', defaultMaxOutputTokens: 8192 }],
  ],
  rules: [...ANTHROPIC_RULES, CLOSED_SCHEMAS],
  fallbackKey: ANY_KEY,
})

export const sandboxGemini = defineProvider({
  id: 'sandbox-gemini',
  name: 'Sandbox, as Gemini',
  docs: DOCS,
  isFree: true,
  knownModels: MODELS,
  keyHeader: gemini.keyHeader,
  endpoints: gemini.endpoints,
  traits: [
    [REASONING_MODELS, { reasoning: 'level', alwaysReasons: true }],
    [/./, { reasoning: 'budget' }],
  ],
  fallbackKey: ANY_KEY,
})

export const sandboxBedrock = defineProvider({
  id: 'sandbox-bedrock',
  name: 'Sandbox, as Amazon Bedrock',
  docs: DOCS,
  isFree: true,
  knownModels: MODELS,
  signing: bedrock.signing,
  endpoints: bedrock.endpoints,
  traits: [
    [REASONING_MODELS, { reasoning: 'adaptive', refusesSampling: true, withoutThinking: DISABLED }],
    [/./, { reasoning: 'budget', defaultMaxOutputTokens: 8192 }],
  ],
  rules: BEDROCK_RULES,
  fallbackKey: ANY_KEY,
})

export const sandboxCohere = defineProvider({
  id: 'sandbox-cohere',
  name: 'Sandbox, as Cohere',
  docs: DOCS,
  isFree: true,
  knownModels: MODELS,
  endpoints: cohere.endpoints,
  traits: [[REASONING_MODELS, { reasoning: 'budget' }]],
  fallbackKey: ANY_KEY,
})

/** The path prefix of each provider's dialect on the sandbox's server. */
const PREFIXES = [
  [sandbox, ''],
  [sandboxAnthropic, '/anthropic'],
  [sandboxGemini, '/gemini/v1beta'],
  [sandboxBedrock, '/bedrock'],
  [sandboxCohere, '/cohere'],
] as const

export function sandboxAddresses(url: string | undefined): ReadonlyMap<string, string> {
  return new Map(
    url === undefined ? [] : PREFIXES.map(([{ id }, prefix]) => [id, url + prefix] as const),
  )
}
