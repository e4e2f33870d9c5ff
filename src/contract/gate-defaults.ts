/**
 * A gate's defaults for every request, and whether requests may say otherwise, as the control plane
 * reads and writes them.
 */
import { z } from 'zod'
import { OVERRIDES, REASONING_EFFORTS } from '../core/gate.ts'
import { text } from './text.ts'

const MAX_INSTRUCTIONS = 100_000

const members = {
  instructions: text({ min: 1, max: MAX_INSTRUCTIONS })
    .optional()
    .meta({ description: "Put before the caller's own instructions, whatever `overrides` says." }),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  reasoningEffort: z.enum(REASONING_EFFORTS).optional().meta({
    description:
      'Left out, and named in `x-gatehouse-ignored`, with a model that cannot be asked to think.',
  }),
}

const description =
  'Said for every request through the gate; each provider is told in its own words. A change ' +
  'replaces all of them.'

export const defaults = z.strictObject(members).meta({ description })
export const defaultsBody = z.object(members).meta({ description })

export const overrides = z.enum(OVERRIDES).meta({
  description:
    'When a request says otherwise: a `model` beside `gate_id`, or a parameter that has a ' +
    'default. `ignore`: the gate counts, and `x-gatehouse-ignored` names what did not. ' +
    '`reject`: 400. `allow`: the caller counts; a `model` that reads `provider/model` is ' +
    'asked first, then the targets.',
})
