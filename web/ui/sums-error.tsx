/**
 * Why sums over time could not be shown: deleted hours are not a failure, and another range helps.
 */
import { ChartColumnStacked } from 'lucide-react'
import { problemWith } from '../api/api-error.ts'
import { EmptyState, ErrorState } from './states.tsx'

export function SumsError({
  error,
  retry,
}: {
  readonly error: unknown
  readonly retry?: () => void
}) {
  // The API only refuses a page's interval when hours are deleted.
  if (problemWith(error, 'interval') === undefined)
    return <ErrorState error={error} {...(retry && { retry })} />
  return (
    <EmptyState icon={<ChartColumnStacked />} title="The hours of this range are not kept any more">
      The sums by day remain. Choose a later range, or a range of more than a week, which is drawn
      by days.
    </EmptyState>
  )
}
