/**
 * Anthropic's models on Vertex AI: Messages with the model in the path, under the key and the
 * project of `vertex`.
 */
import { anthropicModels } from './anthropic-models.ts'
import { defineProvider } from './define.ts'
import { vertexFeatures } from './platform-features.ts'
import { REGIONAL, vertexAddress } from './vertex-address.ts'

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
