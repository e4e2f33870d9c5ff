/** A yes or no that the whole page knows, and that components follow. */
import { useSyncExternalStore } from 'react'

export interface Signal {
  readonly isOn: () => boolean
  readonly set: (next: boolean) => void
  readonly follow: (listener: () => void) => () => void
}

export function createSignal(): Signal {
  let value = false
  const listeners = new Set<() => void>()
  return {
    isOn: () => value,
    set: (next) => {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    follow: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useSignal({ follow, isOn }: Signal): boolean {
  return useSyncExternalStore(follow, isOn)
}
