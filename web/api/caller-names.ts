import { useQuery } from '@tanstack/react-query'
import { useKeysAndTokens } from './keys-and-tokens.ts'
import { wholeListQuery } from './operation-query.ts'

const USER_ID = /^user_/
const SHOWN_OF_ID = 12

/**
 * The name for a call's `keyId`; `…` while names are loading.
 * @param isNeeded false loads nothing, because an account may have thousands of keys
 */
export function useCallerNames(isNeeded = true): (id: string) => string {
  const keys = useKeysAndTokens(isNeeded)
  const members = useQuery({ ...wholeListQuery('GET /v1/members'), enabled: isNeeded })
  const names = new Map([
    ...(keys.data ?? []).map(({ id, name }) => [id, name] as const),
    ...(members.data ?? []).map(({ id, name }) => [id, `${name} (playground)`] as const),
  ])
  return (id) => {
    const isPending = USER_ID.test(id) ? members.isPending : keys.isPending
    return names.get(id) ?? (isPending ? '…' : `${id.slice(0, SHOWN_OF_ID)}… (deleted)`)
  }
}
