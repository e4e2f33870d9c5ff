/** Fuses and their stops as the control plane reads and writes them. */
import { z } from 'zod'
import { FUSED_KINDS } from '../core/fuse.ts'
import { MAX_LIMIT_USD } from '../core/money.ts'

const fields = {
  usd: z
    .number()
    .min(0.01)
    .max(MAX_LIMIT_USD)
    .nullable()
    .meta({ description: 'US dollars within an hour; null: spending is not limited.' }),
  callsPerMinute: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .meta({ description: 'Null: the number of calls is not limited.' }),
  forMinutes: z.int().min(1).max(60).meta({
    description: 'Minutes in a row that must each have more than `callsPerMinute` calls.',
  }),
}

const description =
  'Stops a session, or a user, that spends more than `usd` US dollars within an hour, or makes ' +
  'more than `callsPerMinute` calls in each of `forMinutes` minutes in a row. The stop lasts until ' +
  'it is lifted, or the fuse is removed. A fuse of a gate counts the calls of the gate, a fuse of a ' +
  'budget the calls that the budget counts. Each node counts the calls that it serves. Null: no fuse.'

export const fuseAnswer = z.object(fields).nullable().meta({ description })

export const fuse = z
  .strictObject({
    usd: fields.usd.default(null),
    callsPerMinute: fields.callsPerMinute.default(null),
    forMinutes: fields.forMinutes.default(5),
  })
  .refine(({ usd, callsPerMinute }) => usd !== null || callsPerMinute !== null, {
    error: 'must set usd or callsPerMinute',
  })
  .nullable()
  .meta({ description })

const fusedStop = z
  .object({
    kind: z.enum(FUSED_KINDS),
    id: z.string().meta({
      description: 'The id of a member, or the hash of a session or of a user of an application.',
    }),
    name: z.string().nullable().meta({
      description:
        'The name of a user, if it is known and the caller sees figures of people; otherwise null.',
    }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Null: this node cannot read the reason now.' }),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'FusedStop' })

export const fusedStopList = z.object({ data: z.array(fusedStop) }).meta({ id: 'FusedStopList' })
