/**
 * Whether a part of the page has come into view. It stays seen: what was fetched for it is there.
 */
import { type RefObject, useEffect, useState } from 'react'

/** A little before: whoever scrolls on should find it there. */
const AHEAD = '200px 0px'

export function useWasSeen(place: RefObject<Element | null>): boolean {
  const [wasSeen, setSeen] = useState(false)
  useEffect(() => {
    if (wasSeen || place.current === null) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
      },
      { rootMargin: AHEAD },
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [wasSeen, place])
  return wasSeen
}
