/**
 * Tells screen readers which page has come: nothing else says it where the browser loads no
 * document.
 */
import { useSyncExternalStore } from 'react'

let said: string | undefined
let listener: (() => void) | undefined

/** The first page of a visit is read out by itself. */
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
