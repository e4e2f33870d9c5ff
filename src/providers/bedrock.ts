/**
 * Amazon Bedrock, by Converse. The key is a Bedrock API key, or
 * `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]` for signing; the region is in the address.
 */
import { BETWEEN_TOOLS, bedrockFeatures, DISABLED } from './anthropic.ts'
import { defineProvider } from './define.ts'
import { BEDROCK_RULES } from './request-rules.ts'

// Models with response schemas and with cache points:
// https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html and
// …/prompt-caching.html.
const NO_SCHEMA = ['outputConfig']
const NO_CACHE = ['cachePoint']
const NEITHER = ['outputConfig', 'cachePoint']

const ADAPTIVE = { reasoning: 'adaptive', refusesSampling: true } as const

export const bedrock = defineProvider({
  id: 'bedrock',
  name: 'Amazon Bedrock',
  telemetryName: 'aws.bedrock',
  docs: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html',
  baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  signing: { type: 'aws', service: 'bedrock' },
  rules: BEDROCK_RULES,
  pricedAs: 'aws',
  endpoints: {
    'bedrock-converse': {
      path: '/model/{model}/converse',
      streamPath: '/model/{model}/converse-stream',
      features: bedrockFeatures,
    },
  },
  // https://aws.amazon.com/bedrock/pricing (2026-11): prices depend on the region, and the table
  // has those of the US. Claude's prices depend only on the inference profile in the model's name,
  // and global profiles have one price.
  priceFactors: [
    { kind: 'address', value: /\.us-(?:east|west)-\d\./, factor: 1 },
    {
      kind: 'address',
      value: /\.amazonaws\.com\b/,
      models: /anthropic\.claude|^global\./,
      factor: 1,
    },
    { kind: 'address', value: /\.amazonaws\.com\b/ },
  ],
  // Names are ids (`anthropic.claude-…-v1:0`), inference profiles (`eu.anthropic.claude-…`) or ARNs
  // that end in such a name. Claude's thinking and sampling rules are those of anthropic.ts.
  traits: [
    [/anthropic\.claude-(?:v2|instant|3-(?:5-)?(?:opus|sonnet|haiku))/, { refuses: NEITHER }],
    [
      /anthropic\.claude-opus-4-1-\d{8}/,
      {
        reasoning: 'budget',
        defaultMaxOutputTokens: 8192,
        takesOneSampling: true,
        withoutThinking: DISABLED,
        refuses: NO_SCHEMA,
      },
    ],
    [
      /anthropic\.claude-(?:3-7|(?:opus|sonnet)-4-\d{8})/,
      {
        reasoning: 'budget',
        defaultMaxOutputTokens: 8192,
        withoutThinking: DISABLED,
        refuses: NO_SCHEMA,
      },
    ],
    [
      /anthropic\.claude-(?:opus|sonnet|haiku)-4-[56](?!\d)/,
      {
        reasoning: 'budget',
        defaultMaxOutputTokens: 8192,
        takesOneSampling: true,
        withoutThinking: DISABLED,
      },
    ],
    [/anthropic\.claude-sonnet-5-[5-9](?!\d)/, { ...ADAPTIVE, withoutThinking: BETWEEN_TOOLS }],
    [
      /anthropic\.claude-(?:opus-4-[78]|(?:opus|sonnet)-5(?!-[5-9](?!\d))|haiku-5)(?!\d)/,
      { ...ADAPTIVE, withoutThinking: DISABLED },
    ],
    [/anthropic\.claude-/, { ...ADAPTIVE, alwaysReasons: true }],
    [/openai\.gpt-oss/, { reasoning: 'effort', alwaysReasons: true, refuses: NO_CACHE }],
    [/mistral\./, { shortToolIds: true, refuses: NO_CACHE }],
    [/(?:amazon|meta|cohere|ai21)\./, { refuses: NEITHER }],
    [/./, { refuses: NO_CACHE }],
  ],
})
