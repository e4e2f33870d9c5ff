/**
 * How each target of a gate did when it was asked once. Must not know which providers exist.
 */
import { z } from 'zod'

const count = z.int().min(0)

const targetTest = z.object({
  target: z.string().meta({ description: '`provider/model`.', example: 'sandbox/echo' }),
  status: z.enum(['ok', 'failed']),
  httpStatus: z.int().optional().meta({
    description:
      'The status that a caller would have seen; absent when the provider was not asked.',
  }),
  error: z
    .object({ code: z.string().meta({ example: 'provider_auth_failed' }), message: z.string() })
    .optional(),
  latencyMs: z.number(),
  firstByteMs: z.number().optional(),
  dialect: z
    .string()
    .nullable()
    .meta({ description: 'That the target was called in; null when it was not called.' }),
  usage: z
    .object({
      inputTokens: count,
      outputTokens: count,
      cachedInputTokens: count,
      reasoningTokens: count,
    })
    .optional(),
})

export const gateTestBody = z
  .object({
    gateId: z.string(),
    results: z.array(targetTest).meta({ description: "One for each target, in the gate's order." }),
  })
  .meta({
    id: 'GateTest',
    description: 'How each target of a gate did. Holds nothing of what it answered.',
  })

export const testGateBody = z
  .strictObject({})
  .meta({ id: 'TestGate', description: 'Nothing to say yet.' })
