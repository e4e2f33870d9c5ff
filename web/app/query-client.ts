/** The one cache of answers, and when asking again is worth it. */
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
      // A refusal will not change by itself; a gateway that is starting again will answer.
      retry: (failures, error) =>
        failures < MAX_RETRIES &&
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
    // Sent now or never: one that is held would be made after its author has given it up.
    mutations: { networkMode: 'always' },
  },
})

whenSignedOut(() => {
  // The router leads a visitor who had none when the page began to the sign-in page.
  if (queryClient.getQueryData(operationQuery('GET /v1/session').queryKey) !== undefined)
    holdForSignIn()
})

whenUnreachable(loseConnection)
