import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../api/operation-query.ts'
import { nameOfUser } from '../format/group-name.ts'

/** The name of a user by id or hash, read from the latest call of the user. */
export function useUserName(user: string | undefined): string {
  const calls = useQuery({
    ...operationQuery('GET /v1/logs', { query: { user, limit: 1 } }),
    enabled: user !== undefined,
  })
  if (user === undefined) return ''
  return nameOfUser(user, calls.data?.data[0]?.userName)
}
