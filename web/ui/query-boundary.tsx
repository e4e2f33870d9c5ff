/**
 * Shows a query's answer, or that it is loading, or why there is none: so that no page forgets one
 * of the three.
 */
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState, RowSkeletons } from './states.tsx'

export function QueryBoundary<Data>({
  query,
  loading = <RowSkeletons />,
  children,
}: {
  readonly query: UseQueryResult<Data>
  readonly loading?: ReactNode
  readonly children: (data: Data) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  return loading
}
