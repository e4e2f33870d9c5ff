/** Rules for requests to a model, as the configuration file sets them. */
import { z } from 'zod'
import { REASONING_EFFORTS } from '../core/gate.ts'
import { OPTIONAL_SETTINGS, RULE_FLAGS } from '../core/request-rules.ts'
import { tokens } from './model-facts.ts'

const CHARACTERS = 'must be characters and ranges such as a-zA-Z0-9_-'

const characters = z
  .string()
  .regex(/^[A-Za-z0-9 _.:/@-]{1,64}$/, { error: CHARACTERS })
  .refine(isClass, { error: CHARACTERS })

function isClass(text: string): boolean {
  try {
    return new RegExp(`[${text}]`).source !== ''
  } catch {
    return false
  }
}

/** A respelled name needs room for its hash. */
const toolNames = z.strictObject({
  maxLength: z.int().min(16).max(1024),
  characters,
  first: characters.optional(),
})

const budget = z.int().min(0).max(10_000_000)
const thinkingBudget = z
  .strictObject({ least: budget, most: budget, zero: z.boolean().optional() })
  .refine(({ least, most }) => least <= most, { error: 'must have least up to most' })

const flags = Object.fromEntries(
  RULE_FLAGS.map((name) => [name, z.boolean().optional()]),
) as Record<(typeof RULE_FLAGS)[number], z.ZodOptional<z.ZodBoolean>>

/** Parses to `RuleOverrides` of core/request-rules.ts. Null and false switch a rule off. */
export const modelTakes = z.strictObject({
  ...flags,
  toolNames: toolNames.nullable().optional(),
  efforts: z.array(z.enum(REASONING_EFFORTS)).min(1).nullable().optional(),
  thinkingBudget: thinkingBudget.nullable().optional(),
  maxOutputTokens: tokens.nullable().optional(),
  refusedSettings: z.array(z.enum(OPTIONAL_SETTINGS)).nullable().optional(),
  maxStops: z.int().min(1).max(1000).nullable().optional(),
  // The lengths of the hashes that replace longer texts.
  maxUserLength: z.int().min(32).max(100_000).nullable().optional(),
  maxCallIdLength: z.int().min(45).max(100_000).nullable().optional(),
})
