/** The one cache of answers, and when asking again is worth it. */
import { QueryClient } from '@tanstack/react-query'
import { ApiError, whenSignedOut } from '../api/ask.ts'
import { toSignInSearch } from './sign-in-address.ts'

const STALE_AFTER_MS = 15_000
const MAX_RETRIES = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_AFTER_MS,
      // A refusal will not change by itself; a gateway that is starting again will answer.
      retry: (failures, error) =>
        failures < MAX_RETRIES && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
})

whenSignedOut(() => {
  // Nothing of the account stays in memory once its session has ended.
  queryClient.clear()
  if (!/^\/dashboard\/(sign-in|sign-up|welcome)/.test(location.pathname)) {
    const search = { ...toSignInSearch(location.pathname + location.search) }
    location.assign(`/dashboard/sign-in?${new URLSearchParams(search)}`)
  }
})
