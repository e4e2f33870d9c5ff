/** Announces page changes to screen readers, because the browser loads no document. */
import { useSyncExternalStore } from 'react'

let said: string | undefined
let listener: (() => void) | undefined

/** The first page of a visit is announced by the browser. */
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
