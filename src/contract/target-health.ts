/** The health of an account's targets as the answering node sees it. */
import { z } from 'zod'

const time = z.iso.datetime()

const targetFault = z.enum(['out_of_credit', 'model_not_found']).meta({
  description:
    'Set when the target cannot serve calls until a person acts. `out_of_credit`: the account at ' +
    'the vendor has no credit. `model_not_found`: the vendor does not know the model, or has ' +
    'withdrawn it.',
})

const targetFailure = z.object({
  code: z.string().meta({ example: 'upstream_error' }),
  status: z.int().meta({
    description:
      'The status that a caller received, or would have received without another target.',
  }),
  at: time,
  fault: targetFault.optional(),
})

const state = z.enum(['unknown', 'healthy', 'failing', 'resting', 'probing']).meta({
  description:
    '`unknown`: not called since this node started. `healthy`: it answered when it was ' +
    'last called. `failing`: it did not, and is still asked in its turn. `resting`: it ' +
    'failed so often, or asked to be left alone, that it is asked last until ' +
    '`restsUntil`. `probing`: it has rested, and one call finds out.',
})

const seenHealth = z.object({
  state,
  restsUntil: time.nullable(),
  failuresInARow: z.int().min(0),
  averageFirstByteMs: z
    .number()
    .nullable()
    .meta({
      description:
        'Moving average of the time to the first byte, in milliseconds; null: ' +
        'the target has not answered yet.',
    }),
  lastAnsweredAt: time.nullable(),
  lastFailure: targetFailure.nullable().meta({
    description: 'The newest failure that the target caused, even if it has answered since.',
  }),
})

/** For lists of models, where most were never called. */
export const modelHealth = seenHealth.nullable().meta({
  description:
    "The model's behaviour in the account's calls since the start of the answering node, as " +
    '`GET /v1/targets/health` shows it. Null: not called since then.',
})

export const targetHealthBody = z
  .object({
    target: z.string().meta({ description: '`provider/model`.', example: 'sandbox/echo' }),
    configured: z.boolean().meta({
      description:
        "Whether there is a credential to call it with, the account's own or the gateway's; " +
        'without one it is passed over.',
    }),
    ...seenHealth.shape,
  })
  .meta({
    id: 'TargetHealth',
    description:
      'A target’s behaviour since the start of the answering node. Nodes neither share nor store ' +
      'these figures, so other nodes may answer differently.',
  })

export const targetHealthList = z
  .object({
    data: z.array(targetHealthBody),
    nextCursor: z.null().meta({ description: 'There is one page.' }),
    seenSince: time.meta({
      description: 'When the answering node started; earlier calls are not included.',
    }),
  })
  .meta({ id: 'TargetHealthList' })

const count = z.int().min(0)

export const gateFallbackBody = z
  .object({
    gate: z.string().meta({ example: 'assistant' }),
    target: z
      .string()
      .meta({ description: 'The first target of the gate.', example: 'sandbox/echo' }),
    answeredCalls: count.meta({ description: 'Calls through the gate that any target answered.' }),
    fallbackCalls: count.meta({
      description: 'Calls through the gate that another target than the first answered.',
    }),
    share: z.number().meta({ description: '`fallbackCalls` of `answeredCalls`, from 0 to 1.' }),
    reason: z
      .enum([
        'no_credential',
        'out_of_credit',
        'model_not_found',
        'credential_refused',
        'rate_limited',
        'timeout',
        'failed',
        'slow',
        'unknown',
      ])
      .meta({
        description:
          'Why the first target did not answer these calls. `slow`: the gate hedges. `unknown`: no ' +
          'failure was recorded, for example because the target does not support some calls.',
      }),
    message: z.string().meta({ description: 'The reason and the state, in one or two sentences.' }),
    state,
    restsUntil: time.nullable(),
    lastFailure: targetFailure.nullable().meta({
      description: 'The state of the first target, from this node or from calls on any node.',
    }),
  })
  .meta({
    id: 'GateFallback',
    description:
      'A gate with the strategy `fallback` where another target than the first answered calls. ' +
      'The calls of all nodes are counted; `state` and `restsUntil` are those of the answering ' +
      'node.',
  })

export const gateFallbackList = z
  .object({
    data: z.array(gateFallbackBody).meta({ description: 'Ordered by share, the largest first.' }),
    nextCursor: z.null().meta({ description: 'There is one page.' }),
    from: time.meta({
      description:
        'Start of the counted range: the full hour before the last. For a gate that was changed ' +
        'later, the newest 200 calls since its change are counted.',
    }),
  })
  .meta({ id: 'GateFallbackList' })

export type GateFallbackBody = z.infer<typeof gateFallbackBody>

export type TargetHealthBody = z.infer<typeof targetHealthBody>

const targetTest = z.object({
  target: z.string().meta({ description: '`provider/model`.', example: 'sandbox/echo' }),
  status: z.enum(['ok', 'failed']),
  httpStatus: z.int().optional().meta({
    description:
      'The status that a caller would have received; absent if the provider was not asked.',
  }),
  error: z
    .object({ code: z.string().meta({ example: 'provider_auth_failed' }), message: z.string() })
    .optional(),
  latencyMs: z.number(),
  firstByteMs: z.number().optional(),
  dialect: z
    .string()
    .nullable()
    .meta({ description: 'The dialect of the call to the target; null if it was not called.' }),
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
    description: 'The result for each target of a gate, without the content of its answer.',
  })

export const testGateBody = z
  .strictObject({})
  .meta({ id: 'TestGate', description: 'No result yet.' })
