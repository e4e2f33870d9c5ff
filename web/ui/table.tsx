import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { Moment } from './moment.tsx'

export function Table({
  label,
  isStackedOnPhones = false,
  head,
  children,
}: {
  readonly label: string
  readonly isStackedOnPhones?: boolean
  readonly head: ReactNode
  readonly children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
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
  readonly isNumber?: boolean | undefined
  readonly isHidden?: boolean | undefined
  readonly isWideOnly?: boolean | undefined
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

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  readonly className?: string
  readonly isNumber?: boolean
  readonly isHidden?: boolean
  readonly isWideOnly?: boolean
  /** Whether a stacked cell begins with the title. */
  readonly isLabelled?: boolean
}

export function timeColumn<Member extends string>(
  title: string,
  member: Member,
  { never, isWideOnly = false }: { readonly never?: string; readonly isWideOnly?: boolean } = {},
): Column<Readonly<Record<Member, string | null>>> {
  return {
    title,
    className: 'text-ink-soft',
    isLabelled: true,
    isWideOnly,
    cell: (row) => <Moment at={row[member]} {...(never === undefined ? {} : { never })} />,
  }
}

export function ColumnTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  isStackedOnPhones = true,
}: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly isStackedOnPhones?: boolean
}) {
  return (
    <Table
      label={label}
      isStackedOnPhones={isStackedOnPhones}
      head={columns.map(({ title, isNumber, isHidden, isWideOnly }) => (
        <Th key={title} isNumber={isNumber} isHidden={isHidden} isWideOnly={isWideOnly}>
          {title}
        </Th>
      ))}
    >
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          {columns.map(({ title, cell, className, isNumber, isWideOnly, isLabelled }) => (
            <td
              key={title}
              data-label={isLabelled === true ? title : undefined}
              className={classNames(
                className,
                isNumber && 'text-right tabular-nums',
                isWideOnly && 'max-sm:hidden',
              )}
            >
              {cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}
