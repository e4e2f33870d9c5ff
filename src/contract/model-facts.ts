/** Facts of a model, as the configuration file and gates set them. */
import { z } from 'zod'
import { MODALITIES } from '../core/model-facts.ts'

const MAX_EFFORTS = 20
const MAX_TOKENS = 1_000_000_000

export const tokens = z.int().min(1).max(MAX_TOKENS)

const modalities = z.array(z.enum(MODALITIES)).min(1).max(MODALITIES.length).readonly()
const efforts = z
  .array(z.string().regex(/^[a-z][a-z0-9_-]{0,19}$/, { error: 'must be a word in small letters' }))
  .max(MAX_EFFORTS)
  .readonly()

/** Parses to `ModelFacts` of core/model-facts.ts. */
export const modelFacts = z.strictObject({
  contextTokens: tokens.optional(),
  maxOutputTokens: tokens.optional(),
  inputModalities: modalities.optional(),
  outputModalities: modalities.optional(),
  reasoningEfforts: efforts.optional(),
})
