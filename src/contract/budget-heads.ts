/** The users or keys under a default budget, with what they have used of it. */
import { z } from 'zod'
import { listOf, pageQuery } from './lists.ts'
import { callerFields, nameFields } from './usage-query.ts'

export const budgetHeadQuery = z.strictObject({
  ...pageQuery.shape,
  user: callerFields.user.meta({
    type: 'string',
    description:
      'Only this user, of a budget of the scope `each-user`: the id, name or e-mail address of a ' +
      'member, or `end:` and the name or the hash of an end user.',
  }),
  key: nameFields.key.meta({
    description: 'Only the key or token with this id, of a budget of the scope `each-key`.',
  }),
})

export const budgetHeadBody = z
  .object({
    id: z.string().meta({
      description: 'A member’s id, `end:` and the hash of an end user, or the id of a key.',
    }),
    name: z.string().nullable().meta({ description: 'Null: unknown.' }),
    used: z.object({
      tokens: z.number().min(0),
      usd: z.number().min(0),
      unpricedCalls: z.int().min(0),
    }),
    share: z.number().min(0).meta({
      description: 'The used share of the limit; from 1 on, calls are refused.',
      example: 0.83,
    }),
    budgetId: z.string().nullable().meta({
      description: 'The budget of this user or key that replaces the default; null: none.',
    }),
  })
  .meta({ id: 'BudgetHead' })

export const budgetHeadList = listOf(budgetHeadBody, 'BudgetHeadList')
