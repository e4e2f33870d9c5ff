/**
 * Holds every question to the gateway while there is a reason to, and asks again afterwards for
 * what is shown. Asks nothing.
 */
import { onlineManager } from '@tanstack/react-query'

type Reason = 'session' | 'connection'

const reasons = new Set<Reason>()

// The browser's own word for being online says nothing: the gateway may be on this machine.
onlineManager.setEventListener(() => undefined)

export function holdQueries(reason: Reason): void {
  reasons.add(reason)
  onlineManager.setOnline(false)
}

export function releaseQueries(reason: Reason): void {
  reasons.delete(reason)
  onlineManager.setOnline(reasons.size === 0)
}
