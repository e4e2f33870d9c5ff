/** The stored data of an end user, and the result of an erasure. */
import { z } from 'zod'
import { logBody } from './logs.ts'
import { sessionBody } from './sessions.ts'
import { callCounts, costSums, count, tokenCounts } from './usage-sums.ts'

export const endUserParameters = z.object({
  name: z
    .string()
    .min(1)
    .max(255)
    .meta({
      description:
        'The name as the application sends it, or `end:` and the hash that the log shows. Encode ' +
        '`/` as `%2F`. No path can hold the names `.` and `..`: give the hash, which ' +
        '`GET /v1/account/end-users` finds.',
      example: 'customer-4711',
    }),
})

export const findEndUserQuery = z.strictObject({ name: endUserParameters.shape.name })

const userId = z.string().meta({
  description: 'As in the log: `end:` and a hash.',
  example: 'end:3fa9c81d00b7e642',
})

const dayBody = z
  .object({
    day: z.iso.date().meta({ description: 'A day in UTC.' }),
    ...callCounts,
    tokens: z.object(tokenCounts),
    cost: z.object(costSums),
  })
  .meta({ id: 'EndUserDay' })

export type EndUserDay = z.input<typeof dayBody>

export const foundEndUser = z.object({ user: userId }).meta({ id: 'FoundEndUser' })

export const endUserExport = z
  .object({
    user: userId,
    name: z.string().nullable().meta({ description: 'Null: no name is stored.' }),
    nameLastSeenAt: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'The beginning of the day on which the name was last sent.' }),
    days: z.array(dayBody).meta({ description: 'The sums by day, the oldest first.' }),
    sessions: z.array(sessionBody).meta({
      description: 'The sessions whose latest call with a user was this user’s.',
    }),
    calls: z.array(logBody).meta({ description: 'The calls, the latest first.' }),
  })
  .meta({ id: 'EndUserExport' })

export const erasedBody = z
  .object({
    user: userId,
    calls: count.meta({ description: 'Calls that count for `(erased)` now.' }),
    days: count.meta({ description: 'Days whose sums count for `(erased)` now.' }),
    sessions: count.meta({ description: 'Sessions that count for `(erased)` now.' }),
    notErased: z.array(z.string()).meta({
      description:
        'Copies outside the database, and budgets of the user, which you have to delete yourself.',
    }),
  })
  .meta({ id: 'ErasedEndUser' })

/** Copies that an erasure cannot reach. */
export const NOT_ERASED: readonly string[] = [
  'backups of the database',
  'webhooks that were sent',
  'files that were exported',
]
