import { useQuery } from '@tanstack/react-query'
import { wholeListQuery } from './operation-query.ts'

export function useKeysAndTokens(enabled = true) {
  const keys = useQuery({ ...wholeListQuery('GET /v1/keys'), enabled })
  const tokens = useQuery({ ...wholeListQuery('GET /v1/access-tokens'), enabled })
  return {
    data: keys.data && tokens.data && [...tokens.data, ...keys.data],
    isPending: keys.isPending || tokens.isPending,
    isError: keys.isError || tokens.isError,
  }
}
