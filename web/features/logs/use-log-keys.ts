/** The log's keys: which key does what, and when the page leaves keys alone. */
import { useEffect, useRef } from 'react'

export interface LogKeyActions {
  /** By so many rows: 1 to older calls, -1 to newer ones. */
  readonly move: (rows: number) => void
  readonly open: () => void
  readonly close: () => void
  readonly search: () => void
  readonly toggleLive: () => void
  readonly help: () => void
}

export const KEY_HELP: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['j', '↓'], 'Next call (older)'],
  [['k', '↑'], 'Previous call (newer)'],
  [['Enter'], 'Open the call'],
  [['Esc'], 'Close the call'],
  [['/'], 'Search and filter'],
  [['l'], 'Live tail on or off'],
  [['?'], 'Show these keys'],
]

const FIELDS = 'input, textarea, select, [contenteditable="true"]'
/** In these, all keys are theirs. */
const WINDOWS = '[role="dialog"], [role="alertdialog"], [role="menu"], dialog[open]'
const CONTROLS = 'a[href]:not([role="row"] a), button, [role="switch"], summary, [role="tab"]'

export function useLogKeys(actions: LogKeyActions): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector(WINDOWS) !== null) return
      const element = event.target instanceof Element ? event.target : document.body
      const action = choose(latest.current, event.key, element)
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** @returns what the key does there; undefined: it is not ours */
function choose(actions: LogKeyActions, key: string, element: Element): (() => void) | undefined {
  if (element.closest(FIELDS) !== null) return undefined
  const isInList = element.closest('[role="grid"]') !== null
  const isOnControl = !isInList && element.closest(CONTROLS) !== null
  // Boxes that scroll by these keys keep doing so.
  const canMoveByArrows = isInList || element === document.body
  switch (key) {
    case 'j':
      return () => actions.move(1)
    case 'k':
      return () => actions.move(-1)
    case 'ArrowDown':
      return canMoveByArrows ? () => actions.move(1) : undefined
    case 'ArrowUp':
      return canMoveByArrows ? () => actions.move(-1) : undefined
    case 'Enter':
      return isOnControl ? undefined : actions.open
    case 'Escape':
      return actions.close
    case '/':
      return actions.search
    case 'l':
      return actions.toggleLive
    case '?':
      return actions.help
    default:
      return undefined
  }
}
