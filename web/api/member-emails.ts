import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from './operation-query.ts'

const MEMBER_ID = /^user_/

/** The e-mail addresses of members by id. End users have none, and load no list. */
export function useMemberEmails(users: readonly string[]): ReadonlyMap<string, string> {
  const enabled = users.some((user) => MEMBER_ID.test(user))
  const { data = [] } = useQuery({ ...wholeListQuery('GET /v1/members'), enabled })
  return new Map(data.map(({ id, email }) => [id, email]))
}
