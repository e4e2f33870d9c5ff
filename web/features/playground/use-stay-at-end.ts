/**
 * Keeps a box that grows scrolled to its end, but only while the reader is there: who scrolls up is
 * left alone.
 */
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** Nearer than this to the end counts as being there, in pixels. */
const NEAR_PX = 32

export function useStayAtEnd(
  box: RefObject<HTMLElement | null>,
  content: unknown,
): {
  readonly isAtEnd: boolean
  readonly onScroll: () => void
  readonly onWheel: (event: { readonly deltaY: number }) => void
  readonly goToEnd: () => void
} {
  const [isAtEnd, setAtEnd] = useState(true)
  const wasAtEnd = useRef(true)
  /** The place where the reader turned the wheel upwards, until the box has moved. */
  const leavingFrom = useRef<number>(undefined)

  const goToEnd = () => {
    const element = box.current
    if (element === null) return
    element.scrollTop = element.scrollHeight
    leavingFrom.current = undefined
    wasAtEnd.current = true
    setAtEnd(true)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the content that makes the box grow
  useLayoutEffect(() => {
    if (wasAtEnd.current) goToEnd()
  }, [content])

  return {
    isAtEnd,
    goToEnd,
    onScroll: () => {
      const element = box.current
      if (element === null) return
      if (leavingFrom.current !== undefined) {
        // Our own scrolling from before may be told only now; it is not the reader coming back.
        if (element.scrollTop >= leavingFrom.current) return
        leavingFrom.current = undefined
      }
      wasAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX
      setAtEnd(wasAtEnd.current)
    },
    // The box moves some time after the wheel; what arrives in between must not take the reader
    // back.
    onWheel: ({ deltaY }) => {
      const element = box.current
      if (element === null || deltaY >= 0 || element.scrollTop === 0) return
      leavingFrom.current = element.scrollTop
      wasAtEnd.current = false
      setAtEnd(false)
    },
  }
}
