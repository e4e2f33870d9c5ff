/**
 * Tables that scroll sideways on narrow screens rather than squeeze. Their cells are plain `td`s.
 */
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export function Table({
  label,
  isStackedOnPhones = false,
  head,
  children,
}: {
  /** The table's name, for screen readers. */
  readonly label: string
  readonly isStackedOnPhones?: boolean
  /** `Th`s. */
  readonly head: ReactNode
  /** `tr`s. */
  readonly children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section className="relative overflow-x-auto last:rounded-b-xl" tabIndex={0} aria-label={label}>
      <table
        className={classNames(
          'w-full border-collapse text-left text-sm [&_tbody_tr]:border-t [&_tbody_tr:hover]:bg-sunken/60 [&_td]:px-3 xl:[&_td]:px-5 [&_td]:py-3 [&_td:first-child]:pl-5 [&_td:last-child]:pr-5 [&_td]:align-middle',
          isStackedOnPhones && 'stacked-on-phones',
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
        'h-9 px-3 xl:px-5 first:pl-5 last:pr-5 text-xs font-medium whitespace-nowrap text-ink-faint max-sm:whitespace-normal',
        isNumber && 'text-right',
        isWideOnly && 'max-sm:hidden',
      )}
    >
      {isHidden ? <span className="sr-only">{children}</span> : children}
    </th>
  )
}
