/**
 * Tables that scroll sideways on narrow screens rather than squeeze. Their cells are plain `td`s.
 */
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

/** On a phone what one can do with a row stays in view, and the row's facts scroll beneath it. */
const BUTTONS_IN_VIEW =
  'max-sm:[&_td:last-child:has(button)]:sticky max-sm:[&_td:last-child:has(button)]:right-0 max-sm:[&_td:last-child:has(button)]:bg-surface max-sm:[&_td:last-child:has(button)]:pr-3 max-sm:[&_td:last-child:has(button)]:shadow-[-6px_0_6px_-6px_rgb(0_0_0/0.3)]'

export function Table({
  label,
  head,
  children,
}: {
  /** The table's name, for screen readers. */
  readonly label: string
  /** `Th`s. */
  readonly head: ReactNode
  /** `tr`s. */
  readonly children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className="relative overflow-x-auto" tabIndex={0} aria-label={label}>
      <table
        className={classNames(
          'w-full border-collapse text-left text-sm [&_tbody_tr]:border-t [&_tbody_tr:hover]:bg-sunken/60 [&_td]:px-3 xl:[&_td]:px-5 [&_td]:py-3 [&_td:first-child]:pl-5 [&_td:last-child]:pr-5 [&_td]:align-middle',
          BUTTONS_IN_VIEW,
        )}
      >
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

export function Th({
  children,
  isNumber = false,
  isHidden = false,
  isWideOnly = false,
}: {
  readonly children: ReactNode
  readonly isNumber?: boolean
  /** Only for screen readers: for columns of buttons. */
  readonly isHidden?: boolean
  /** Not on phones; its cells are `max-sm:hidden`. */
  readonly isWideOnly?: boolean
}) {
  return (
    <th
      scope="col"
      className={classNames(
        'h-9 px-3 xl:px-5 first:pl-5 last:pr-5 text-xs font-medium whitespace-nowrap text-ink-faint',
        isNumber && 'text-right',
        isWideOnly && 'max-sm:hidden',
      )}
    >
      {isHidden ? <span className="sr-only">{children}</span> : children}
    </th>
  )
}
