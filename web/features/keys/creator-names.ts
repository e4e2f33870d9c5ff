/** Names of those who made keys: members, other keys, and the operator. */
import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from '../../api/operation-query.ts'
import type { ApiKey } from './key-table.tsx'

const USER_ID = /^user_/

/** @returns undefined while names are on their way, and where it is not known who made it */
export function useCreatorNames(keys: readonly ApiKey[]): (key: ApiKey) => string | undefined {
  const members = useQuery(wholeListQuery('GET /v1/members'))
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]))
  const memberNames = new Map(members.data?.map(({ id, name }) => [id, name]))
  return ({ createdBy }) => {
    if (createdBy === null) return undefined
    if (createdBy === 'operator') return 'the operator'
    if (USER_ID.test(createdBy))
      return memberNames.get(createdBy) ?? (members.isSuccess ? 'a former member' : undefined)
    const name = keyNames.get(createdBy)
    return name === undefined ? 'a deleted key' : `key “${name}”`
  }
}
