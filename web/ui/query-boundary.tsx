/** Shows a query's answer, its loading state, or its error, so that no page forgets a state. */
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState, RowSkeletons } from './states.tsx'

export function QueryBoundary<Data>({
  query,
  loading = <RowSkeletons />,
  empty,
  failed: Failed = ErrorState,
  children,
}: {
  readonly query: UseQueryResult<Data>
  readonly loading?: ReactNode
  /** Replaces the usual error message. */
  readonly failed?: typeof ErrorState
  readonly empty?: ReactNode
  readonly children: (data: Data) => ReactNode
}) {
  const { data } = query
  if (data !== undefined)
    return empty !== undefined && Array.isArray(data) && data.length === 0 ? empty : children(data)
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />
  return loading
}
