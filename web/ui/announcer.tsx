import { useSyncExternalStore } from 'react'

let said: string | undefined
let listener: (() => void) | undefined

/** The browser announces the first page of a visit. */
let hasBegun = false

export function announce(title: string): void {
  if (hasBegun) said = title
  hasBegun = true
  listener?.()
}

export function Announcer() {
  const text = useSyncExternalStore(
    (changed) => {
      listener = changed
      return () => {
        listener = undefined
      }
    },
    () => said,
  )
  return (
    <p role="status" aria-label="Page" className="sr-only">
      {text}
    </p>
  )
}
