import { replaceEqualDeep, type UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'

/**
 * Keeps the current view until everything for the next view has arrived, so that figures and limits
 * belong to the same range.
 * @param view plain data, compared by value
 * @param questions the active queries; results of other queries are not awaited
 * @returns the latest view whose queries were all answered; `view` until such a view exists
 */
export function useSettled<View>(
  view: View,
  questions: readonly Pick<UseQueryResult, 'isPending' | 'isPlaceholderData'>[],
): View {
  const [settled, setSettled] = useState<View>()
  const isSettled = questions.every(
    (question) => !question.isPending && !question.isPlaceholderData,
  )
  const next = isSettled ? replaceEqualDeep(settled, view) : settled
  // React renders again immediately, and stops when the view is unchanged.
  if (next !== settled) setSettled(next)
  return next ?? view
}
