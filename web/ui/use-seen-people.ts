import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../api/operation-query.ts'

/**
 * Whether the reader sees figures of everyone, or only their own. After an error: everyone's,
 * because the figures then show their own error.
 * @returns undefined until it is known
 */
export function useSeenPeople() {
  const attribution = useQuery(operationQuery('GET /v1/account/attribution'))
  const { data: session } = useQuery(operationQuery('GET /v1/session'))
  if ((attribution.data === undefined && !attribution.isError) || session === undefined)
    return undefined
  const isOwner = session.role === 'owner'
  return {
    isOwner,
    self: session.user?.id,
    seesAll:
      attribution.data === undefined || (isOwner && attribution.data.peopleFigures !== 'hidden'),
  }
}
