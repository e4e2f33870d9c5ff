import type { UsageSumBody } from '../../src/contract/analytics.ts'
import type { QueryOf } from '../../src/contract/api-call.ts'
import { ask } from './ask.ts'

const GROUPS_PER_PAGE = 1_000

/** The sums of all groups, from as many pages as there are. */
export async function askAllGroups(
  query: Omit<QueryOf<'GET /v1/analytics'>, 'limit' | 'cursor'>,
): Promise<readonly UsageSumBody[]> {
  const sums: UsageSumBody[] = []
  let cursor: string | undefined
  do {
    const page = await ask('GET /v1/analytics', {
      query: { ...query, limit: GROUPS_PER_PAGE, cursor },
    })
    for (const sum of page.data) if (!sum.isRest) sums.push(sum)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return sums
}
