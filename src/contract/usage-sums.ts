/** Members that every sum of calls has. */
import { z } from 'zod'

export const count = z.int().min(0)

export const callCounts = {
  calls: count,
  errors: count.meta({ description: 'Failed calls, without calls that the caller cancelled.' }),
  refused: count.meta({
    description:
      'The part of `errors` that was refused with a 4xx after admission, before any upstream was ' +
      'asked. Too low in sums by user, tag and session that an earlier version has stored.',
  }),
  cancelled: count,
}

export const tokenCounts = {
  input: count,
  output: count,
  cachedInput: count.meta({ description: 'Part of `input`.' }),
  cacheWrite: count.meta({ description: 'Part of `input`.' }),
  reasoning: count.meta({ description: 'Part of `output`.' }),
}

export const costSums = {
  usd: z.number().meta({ description: 'The cost of the calls with a known cost.' }),
  estimatedCalls: count,
  unknownCalls: count,
}
