import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from '../../api/operation-query.ts'
import type { AccessToken } from './token-draft.ts'

type Owner = AccessToken['owner']

/**
 * Names owners: the e-mail address of a member, or the tag; undefined without an owner and while
 * names are loading.
 */
export function useOwnerNames(owners: readonly Owner[]): (owner: Owner) => string | undefined {
  const has = (type: 'member' | 'tag') => owners.some((owner) => owner?.type === type)
  const members = useQuery({ ...wholeListQuery('GET /v1/members'), enabled: has('member') })
  const tags = useQuery({ ...wholeListQuery('GET /v1/tags'), enabled: has('tag') })
  const emails = new Map(members.data?.map(({ id, email }) => [id, email]))
  const names = new Map(tags.data?.map(({ id, name }) => [id, `tag ${name}`]))
  return (owner) => {
    if (owner === null) return undefined
    if (owner.type === 'member') return emails.get(owner.id) ?? (members.data && 'a former member')
    return names.get(owner.id) ?? (tags.data && 'a deleted tag')
  }
}
