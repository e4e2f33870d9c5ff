import { z } from 'zod'
import { refuseReversedRange, timeFields } from './usage-query.ts'

export const usageExportQuery = z
  .strictObject({
    format: z.enum(['focus']).meta({ description: 'FOCUS 1.2 of the FinOps Foundation, as CSV.' }),
    from: timeFields.from.describe(
      'Start of the range, rounded down to the hour; a day before `to` when absent.',
    ),
    to: timeFields.to.describe('End of the range, rounded up to the hour; now when absent.'),
  })
  .superRefine(refuseReversedRange)
