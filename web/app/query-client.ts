import { QueryClient } from '@tanstack/react-query'
import { ApiError, whenSignedOut, whenUnreachable } from '../api/ask.ts'
import { operationQuery } from '../api/operation-query.ts'
import { holdForSignIn, loseConnection } from './connection.ts'

const STALE_AFTER_MS = 15_000
const MAX_RETRIES = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_AFTER_MS,
      // A refusal does not change by itself, but a restarting gateway answers later.
      retry: (failures, error) =>
        failures < MAX_RETRIES &&
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
    // Sent immediately or not at all: a delayed change would run after its author has given up.
    mutations: { networkMode: 'always' },
  },
})

whenSignedOut(() => {
  // Without an earlier session the router shows the sign-in page.
  if (queryClient.getQueryData(operationQuery('GET /v1/session').queryKey) !== undefined)
    holdForSignIn()
})

whenUnreachable(loseConnection)
