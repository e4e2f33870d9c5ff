import { useEffect, useState } from 'react'

const EVERY_MS = 10_000

export interface Live {
  readonly isLive: boolean
  readonly everyMs: number | false
  readonly toggle: () => void
}

export function useLive(isOngoing: boolean, everyMs: number = EVERY_MS): Live {
  const [isStopped, setStopped] = useState(false)
  const [isVisible, setVisible] = useState(() => document.visibilityState === 'visible')
  useEffect(() => {
    const look = () => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])
  const isLive = isOngoing && isVisible && !isStopped
  return { isLive, everyMs: isLive && everyMs, toggle: () => setStopped((before) => !before) }
}
