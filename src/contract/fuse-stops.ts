/** How many stops the fuses of an account made. */
import { z } from 'zod'

export const fuseStopCounts = z
  .object({
    data: z.array(
      z
        .object({
          gateId: z.string().nullable(),
          budgetId: z.string().nullable(),
          name: z.string().meta({ description: 'The id of the gate, or the name of the budget.' }),
          sessions: z.int().min(0).meta({ description: 'Sessions that are stopped.' }),
          users: z.int().min(0).meta({ description: 'Users who are stopped.' }),
        })
        .meta({ id: 'FuseStopCount' }),
    ),
  })
  .meta({ id: 'FuseStopCounts' })
