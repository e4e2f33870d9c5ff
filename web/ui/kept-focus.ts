/**
 * Moves the focus on when its element leaves the page, such as a removed row. Otherwise browsers
 * lose the place, and Tab starts at the page's top.
 */
import { type RefObject, useEffect } from 'react'

/** Never a text field, because phones would open the keyboard. */
const HEIRS =
  'a[href], button:not(:disabled), summary, [tabindex="0"], input[type="checkbox"], input[type="radio"]'

const heirs = new WeakMap<Element, HTMLElement>()

/** The replacement of an element that has left the page; otherwise the element itself. */
export function findHeir(element: Element | null): HTMLElement | null {
  let one = element
  while (one !== null && !one.isConnected) one = heirs.get(one) ?? null
  return one instanceof HTMLElement ? one : null
}

/** Watches elements in `region`, which takes the focus itself when nothing nearby can. */
export function useKeptFocus(region: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const within = region.current
    if (within === null) return
    // Kept while a dialog is open, which returns the focus.
    let last: Element | undefined
    const note = ({ target }: FocusEvent) => {
      if (target instanceof Element && within.contains(target)) last = target
    }
    // A press elsewhere in the region means that the reader has left the element.
    const forget = ({ target }: PointerEvent) => {
      const isElsewhere = target instanceof Node && last?.contains(target) !== true
      if (isElsewhere && within.contains(target)) last = undefined
    }
    const observer = new MutationObserver((records) => {
      const lost = last
      if (lost === undefined || lost === document.activeElement) return
      const removal = records.find(({ removedNodes }) =>
        Array.from(removedNodes).some((node) => node.contains(lost)),
      )
      if (removal === undefined) return
      if (!lost.isConnected) heirs.set(lost, chooseHeir(removal, within))
      const heir = findHeir(lost)
      last = heir ?? undefined
      if (document.activeElement === document.body)
        heir?.focus({ preventScroll: heir.contains(removal.target) })
    })
    document.addEventListener('focusin', note)
    document.addEventListener('pointerdown', forget, true)
    observer.observe(within, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', note)
      document.removeEventListener('pointerdown', forget, true)
      observer.disconnect()
    }
  }, [region])
}

/**
 * The next focusable element in the smallest surrounding part that has one, otherwise the previous
 * element.
 */
function chooseHeir({ target, nextSibling }: MutationRecord, region: HTMLElement): HTMLElement {
  let part = target instanceof Element ? target : null
  let next = nextSibling
  while (part !== null && part !== region && region.contains(part)) {
    if (part instanceof HTMLElement && part.matches(HEIRS)) return part
    const found = [...part.querySelectorAll<HTMLElement>(HEIRS)].filter((one) =>
      one.checkVisibility(),
    )
    const start = next
    const heir = found.find((one) => isFrom(start, one)) ?? found.at(-1)
    if (heir !== undefined) return heir
    next = part.nextSibling
    part = part.parentElement
  }
  return region
}

function isFrom(start: Node | null, one: Element): boolean {
  if (start?.isConnected !== true) return false
  const order = start.compareDocumentPosition(one)
  return (
    start === one ||
    (order & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_CONTAINED_BY)) !== 0
  )
}
