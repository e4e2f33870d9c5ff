import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { ApiError } from '../api/api-error.ts'
import type { OperationName } from '../api/ask.ts'
import { refresh } from '../api/operation-query.ts'
import { describeError } from './states.tsx'
import { toast } from './toast.ts'
import type { ToastOptions } from './toaster.tsx'

export type Said = string | readonly [message: string, options: ToastOptions]

interface Change<Answer, Given> {
  readonly send: (given: Given) => Promise<Answer>
  /** Runs before stale queries are refetched. */
  readonly onAnswer?: (answer: Answer, given: Given) => unknown
  readonly makesStale?: readonly OperationName[]
  readonly done?: Said | ((answer: Answer, given: Given) => Said)
  readonly onDone?: (answer: Answer, given: Given) => unknown
  /** For resources that someone else may have changed meanwhile. */
  readonly failureMakesStale?: readonly OperationName[]
  readonly onFailure?: (error: Error) => unknown
  /** Set when nothing else on the page shows a failure. */
  readonly saysFailure?: boolean
  /** Whether body or answer contains a secret, which is kept only while the page shows it. */
  readonly isSecret?: boolean
}

export function useChange<Answer, Given = void>({
  send,
  onAnswer,
  makesStale = [],
  done,
  onDone,
  failureMakesStale = [],
  onFailure,
  saysFailure = false,
  isSecret = false,
}: Change<Answer, Given>) {
  const queryClient = useQueryClient()
  const underWay = useRef(new Set<string>())
  const mutation = useMutation({
    mutationFn: (given: Given) => send(given).catch(tellUnanswered),
    ...(isSecret ? { gcTime: 0 } : {}),
    onSuccess: async (answer, given) => {
      await onAnswer?.(answer, given)
      await refresh(queryClient, ...makesStale)
      const said = typeof done === 'function' ? done(answer, given) : done
      if (typeof said === 'string') toast('success', said)
      else if (said !== undefined) toast('success', ...said)
      await onDone?.(answer, given)
    },
    onError: async (error) => {
      if (saysFailure) toast('error', describeError(error))
      await onFailure?.(error)
      // Not awaited, because lists load only after the gateway is reachable again.
      if (mayBeOtherwise(error)) void refresh(queryClient, ...makesStale)
      await refresh(queryClient, ...failureMakesStale)
    },
    onSettled: (_, __, given) => {
      underWay.current.delete(nameOf(given))
    },
  })
  return {
    ...mutation,
    /** Sends the same change once at a time: two presses may precede the busy button. */
    mutate: (given: Given) => {
      const name = nameOf(given)
      if (underWay.current.has(name)) return
      underWay.current.add(name)
      mutation.mutate(given)
    },
  }
}

function mayBeOtherwise(error: unknown): boolean {
  return error instanceof ApiError && [0, 404, 409].includes(error.status)
}

/** Throws an error saying that the change may have been made although its answer was lost. */
function tellUnanswered(error: unknown): never {
  if (!(error instanceof ApiError) || error.status !== 0) throw error
  const text = `${error.message} It may have been done all the same: look before you do it again.`
  throw new ApiError(text, error)
}

function nameOf(given: unknown): string {
  return JSON.stringify(given) ?? ''
}
