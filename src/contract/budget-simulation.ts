/** `POST /v1/budgets/simulate`: what a budget would have done with the calls in the log. */
import { z } from 'zod'
import { BUDGET_SCOPES } from '../core/budget.ts'
import { createBudgetBody } from './budgets.ts'
import { refuseReversedRange, timeFields } from './usage-query.ts'

export const MAX_STOPPED_HEADS = 20

export const simulateBudgetBody = createBudgetBody
  .safeExtend({
    from: timeFields.from.describe(
      'The budget begins at this time. When absent: the last seven days, four weeks or the last ' +
        'month that are over, as `period` says; for `total`, the oldest call in the log.',
    ),
    to: timeFields.to.describe(
      'Calls that began before this time. When absent: the start of the current period; for ' +
        '`total`, now.',
    ),
  })
  .superRefine(refuseReversedRange)
  .meta({
    id: 'SimulateBudget',
    description:
      'A budget as for its creation, and a range of time. Nothing is stored. The fuse is ignored.',
  })

const count = z.int().min(0)
const time = z.iso.datetime()

const sum = z
  .object({
    calls: count,
    tokens: count.meta({ description: 'Input and output.' }),
    usd: z.number().meta({ description: 'The cost of the calls with a known or estimated cost.' }),
  })
  .meta({ id: 'SimulatedSum' })

const sums = {
  admitted: sum.meta({ description: 'Calls that the budget would have admitted unchanged.' }),
  moved: sum
    .extend({
      savedUsd: z.number().meta({ description: 'The real cost, less `usd`.' }),
    })
    .meta({
      description:
        'Calls that a budget with `atLimit` would have moved to another target of their gate, at ' +
        'that target’s known price.',
    }),
  refused: sum.meta({
    description: 'Calls that the budget would have refused, at their real cost.',
  }),
  firstRefusedAt: time.nullable().meta({ description: 'Null: nothing would have been refused.' }),
  firstMovedAt: time.nullable().meta({ description: 'Null: nothing would have been moved.' }),
}

const period = z
  .object({
    from: time,
    to: time.meta({ description: 'The end of the period, or of the simulated range.' }),
    ...sums,
  })
  .meta({ id: 'SimulatedPeriod' })

const head = z
  .object({
    type: z.enum(BUDGET_SCOPES).exclude(['each-user', 'each-key']),
    id: z.string(),
    name: z.string().nullable().meta({ description: 'Null: the name is not known.' }),
    ...sums,
  })
  .meta({
    id: 'SimulatedHead',
    description: 'The account, key, gate, user or tag that the limit applies to.',
  })

export const budgetSimulation = z
  .object({
    from: time,
    to: time,
    ...sums,
    periods: z.array(period).meta({ description: 'The periods with calls, oldest first.' }),
    heads: z.array(head).meta({
      description:
        `At most ${MAX_STOPPED_HEADS} heads with refused calls, the greatest refused cost first. ` +
        'Of `each-user`, only the users whose figures the caller may see.',
    }),
    headsCounted: count.meta({ description: 'The number of keys, gates or users with calls.' }),
    headsStopped: count.meta({
      description: 'The number of keys, gates or users with refused calls.',
    }),
    limitations: z.array(z.string()).meta({
      description: 'Sentences about facts that the simulation cannot know.',
      example: [
        'Calls before 2026-11-01T00:00:00.000Z are deleted, so the simulation begins there.',
      ],
    }),
  })
  .meta({ id: 'BudgetSimulation' })

export type BudgetSimulationBody = z.infer<typeof budgetSimulation>
