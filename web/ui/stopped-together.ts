/** Finds the stopped sessions of stopped users: a session that does all the work stops both. */
import { useQuery } from '@tanstack/react-query'
import { type AnswerOf, askWith } from '../api/ask.ts'
import { useSeenPeople } from './use-seen-people.ts'

export type FusedStop = AnswerOf<'GET /v1/gates/{id}/stops'>['data'][number]

/** Each user is one request. */
const MOST_USERS = 20
const SESSIONS_EACH = 200
const HOUR_MS = 3_600_000

/** @returns the stopped sessions by the id of their user, where both are stopped and seen */
export function useStoppedTogether(
  stops: readonly FusedStop[],
  everyMs: number,
): ReadonlyMap<string, readonly FusedStop[]> {
  const seen = useSeenPeople()
  const sessions = stops.filter(({ kind }) => kind === 'session')
  const users = stops
    .filter(({ kind, id }) => kind === 'user' && (seen?.seesAll === true || seen?.self === id))
    .slice(0, MOST_USERS)
  const found = useQuery({
    queryKey: ['GET /v1/usage/sessions', 'of', users.map(({ id }) => id)],
    queryFn: ({ signal }) => Promise.all(users.map((user) => listSessions(user, signal))),
    enabled: sessions.length > 0 && users.length > 0,
    refetchInterval: everyMs,
    staleTime: 0,
  })
  return new Map(
    users.flatMap(({ id }, index) => {
      const ids = found.data?.[index] ?? new Set()
      const own = sessions.filter((session) => ids.has(session.id))
      return own.length === 0 ? [] : [[id, own] as const]
    }),
  )
}

/** The sessions of a user that made calls in the hour before the stop, or later. */
async function listSessions(
  { id: user, createdAt }: FusedStop,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const from = new Date(Date.parse(createdAt) - HOUR_MS).toISOString()
  const query = { user, from, order: 'last', limit: SESSIONS_EACH }
  const { data } = await askWith('GET /v1/usage/sessions', { signal }, { query })
  return new Set(data.map(({ id }) => id))
}
