/** Usage by group with all its pages: an account may have thousands of keys. Knows no page. */
import type { UsageSumBody } from '../../src/contract/analytics.ts'
import type { QueryOf } from '../../src/contract/api-call.ts'
import { ask } from './ask.ts'

const GROUPS_PER_PAGE = 1_000

/** Without the sums of all others, since each is told apart. @throws ApiError */
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
