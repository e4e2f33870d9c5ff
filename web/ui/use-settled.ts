/**
 * Keeps what is shown until all has come of which the next picture is made: figures of one range
 * within the limits of another would be of neither. Knows no question.
 */
import type { UseQueryResult } from '@tanstack/react-query'
import { useRef } from 'react'

/** @returns the view as it was when its questions had been answered last; if they never were, as it is */
export function useSettled<View>(
  view: View,
  questions: readonly Pick<UseQueryResult, 'isPending' | 'isPlaceholderData'>[],
): View {
  const settled = useRef<View>(undefined)
  if (questions.every(({ isPending, isPlaceholderData }) => !isPending && !isPlaceholderData))
    settled.current = view
  return settled.current ?? view
}
