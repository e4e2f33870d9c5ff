/** The users or keys under a default budget, with what they have used of it. */
import { z } from 'zod'
import { listOf } from './lists.ts'

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
