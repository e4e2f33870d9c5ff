/**
 * Google's models on Vertex AI. The key is an access token, or a service account's JSON, which is
 * exchanged for a token. The address is composed from `VERTEX_PROJECT` and `VERTEX_LOCATION` unless
 * the operator sets it as a whole.
 */
import { anthropicModels, vertexFeatures } from './anthropic.ts'
import { type ComposedAddress, defineProvider, type Provider } from './define.ts'
import { googleModels, googleTiers } from './gemini.ts'

/** Base addresses of regions and multi-regions: every location except the global one. */
const REGIONAL = /\/locations\/(?!global(?:\/|$))/

/** @param publisher the models' maker, in Google's spelling in the path */
function vertexAddress(publisher: string) {
  const path = `/v1/projects/{project}/locations/{location}/publishers/${publisher}`
  return {
    keyVariable: 'VERTEX_API_KEY',
    signing: { type: 'google', scope: 'https://www.googleapis.com/auth/cloud-platform' },
    composedBaseUrl: {
      parts: {
        project: { variable: 'VERTEX_PROJECT' },
        location: { variable: 'VERTEX_LOCATION', fallback: 'global' },
      },
      choosing: 'location',
      // https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations: the two
      // multi-regions have a different host form.
      templates: [
        [/^global$/, `https://aiplatform.googleapis.com${path}`],
        [/^(?:us|eu)$/, `https://aiplatform.{location}.rep.googleapis.com${path}`],
        [/./, `https://{location}-aiplatform.googleapis.com${path}`],
      ],
    } satisfies ComposedAddress,
  } as const satisfies Partial<Provider>
}

export const vertex = defineProvider({
  id: 'vertex',
  name: 'Google Vertex AI',
  telemetryName: 'gcp.vertex_ai',
  docs: 'https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference',
  pricedAs: 'google',
  pricedModels: /^gem/,
  ...vertexAddress('google'),
  endpoints: {
    'gemini-generate-content': {
      path: '/models/{model}:generateContent',
      streamPath: '/models/{model}:streamGenerateContent?alt=sse',
    },
  },
  // https://cloud.google.com/gemini-enterprise-agent-platform/generative-ai/pricing (2026-11): a
  // tenth more outside the global location, since Gemini 3.
  priceFactors: [
    ...googleTiers,
    { kind: 'address', value: REGIONAL, models: /^gemini-(?:1|2)\b/, factor: 1 },
    { kind: 'address', value: REGIONAL, models: /^gemini-[3-9]/, factor: 1.1 },
    { kind: 'address', value: REGIONAL },
  ],
  ...googleModels,
})

/**
 * Anthropic's models on Vertex AI: Messages with the model in the path, with the key and project of
 * `vertex`.
 */
export const vertexAnthropic = defineProvider({
  id: 'vertex-anthropic',
  name: 'Anthropic on Vertex AI',
  telemetryName: 'gcp.vertex_ai',
  docs: 'https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai',
  pricedAs: 'google',
  pricedModels: /^claude/,
  ...vertexAddress('anthropic'),
  endpoints: {
    'anthropic-messages': {
      path: '/models/{model}:rawPredict',
      streamPath: '/models/{model}:streamRawPredict',
      checksSignatures: true,
      features: vertexFeatures,
      insteadOfModel: { anthropic_version: 'vertex-2023-10-16' },
    },
  },
  // https://platform.claude.com/docs/en/about-claude/pricing (2026-11): a tenth more outside the
  // global location, since the 4.5 models.
  priceFactors: [
    { kind: 'tier', value: /^batch$/, factor: 0.5 },
    {
      kind: 'address',
      value: REGIONAL,
      models: /^claude-(?:[23]|instant|(?:opus|sonnet)-4(?:-[01])?(?:[-@]\d{8}|$))/,
      factor: 1,
    },
    { kind: 'address', value: REGIONAL, factor: 1.1 },
  ],
  ...anthropicModels,
})
