/**
 * Keeps what is shown until all has come of which the next picture is made: figures of one range
 * within the limits of another would be of neither. Knows no question.
 */
import { replaceEqualDeep, type UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'

/**
 * @param view plain data: it is compared with the one before by what is in it
 * @param questions those that are asked; what came of the others is not waited for
 * @returns the view as it was when its questions had been answered last; if they never were, as it is
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
  // React renders again at once, and asks for no more when the view is the same.
  if (next !== settled) setSettled(next)
  return next ?? view
}
