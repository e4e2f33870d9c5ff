/**
 * Secrets in a link's `#` part, which is never sent to a server. Removed from the address bar and
 * the history when this module loads, before any other module, and when a link is opened in a tab
 * that already shows its page.
 */
import { useSyncExternalStore } from 'react'

const NAMES = ['key', 'invitation'] as const
export type SecretName = (typeof NAMES)[number]

export interface TakenSecret {
  readonly value: string
  /** Distinguishes a link from the next link. */
  readonly count: number
}

const taken = new Map<SecretName, TakenSecret>()
const listeners = new Set<() => void>()

take()
addEventListener('hashchange', take)

export function useFromAddress(name: SecretName): TakenSecret | undefined {
  return useSyncExternalStore(listen, () => taken.get(name))
}

function take(): void {
  const members = new URLSearchParams(location.hash.slice(1))
  const found = NAMES.flatMap((name) => {
    const value = members.get(name)
    return value === null ? [] : [{ name, value }]
  })
  if (found.length === 0) return
  history.replaceState(history.state, '', location.pathname + location.search)
  for (const { name, value } of found)
    taken.set(name, { value, count: (taken.get(name)?.count ?? 0) + 1 })
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
