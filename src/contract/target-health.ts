/**
 * How the targets of an account's gates do, as one node sees it. Must not know which providers
 * exist.
 */
import { z } from 'zod'

const time = z.iso.datetime()

export const targetHealthBody = z
  .object({
    target: z.string().meta({ description: '`provider/model`.', example: 'sandbox/echo' }),
    configured: z.boolean().meta({
      description:
        "Whether there is a credential to call it with, the account's own or the gateway's; " +
        'without one it is passed over.',
    }),
    state: z.enum(['unknown', 'healthy', 'failing', 'resting', 'probing']).meta({
      description:
        '`unknown`: not called since this node started. `healthy`: it answered when it was ' +
        'last called. `failing`: it did not, and is still asked in its turn. `resting`: it ' +
        'failed so often, or asked to be left alone, that it is asked last until ' +
        '`restsUntil`. `probing`: it has rested, and one call finds out.',
    }),
    restsUntil: time.nullable(),
    failuresInARow: z.int().min(0),
    averageFirstByteMs: z
      .number()
      .nullable()
      .meta({
        description:
          'Moving average of the time to the first byte, in milliseconds; null: ' +
          'it has not answered yet.',
      }),
    lastAnsweredAt: time.nullable(),
    lastFailure: z
      .object({
        code: z.string().meta({ example: 'upstream_error' }),
        status: z.int().meta({
          description: 'The status that a caller saw, or would have seen without another target.',
        }),
        at: time,
      })
      .nullable()
      .meta({ description: 'The newest that was its own fault, also when it has answered since.' }),
  })
  .meta({
    id: 'TargetHealth',
    description:
      'A target’s behaviour since the node that answers started. Other nodes may have ' +
      'seen something else: nothing of it is shared or stored.',
  })

export const targetHealthList = z
  .object({
    data: z.array(targetHealthBody),
    nextCursor: z.null().meta({ description: 'There is one page.' }),
    seenSince: time.meta({
      description: 'When the node that answers started: it has seen nothing of what was before.',
    }),
  })
  .meta({ id: 'TargetHealthList' })

export type TargetHealthBody = z.infer<typeof targetHealthBody>
