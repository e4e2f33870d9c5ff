import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { formatWhole } from '../format/figures.ts'
import { findByWords } from '../format/find-by-words.ts'
import { FirstRows } from './first-rows.tsx'
import { SearchField } from './search-field.tsx'
import { EmptyState } from './states.tsx'
import { ColumnTable } from './table.tsx'

const MANY = 8

export function SearchedRows<Row>({
  rows,
  thing,
  label = `Find a ${thing}`,
  textOf,
  searched,
  children,
}: {
  readonly rows: readonly Row[]
  readonly thing: string
  readonly label?: string
  /** The text of a row that must contain every typed word. */
  readonly textOf: (row: Row) => string
  readonly searched: string
  readonly children: (shown: readonly Row[]) => ReactNode
}) {
  const [search, setSearch] = useState('')
  // The field updates at once; the hundreds of rows update afterwards.
  const shownSearch = useDeferredValue(search)
  const found = useMemo(() => findByWords(rows, shownSearch, textOf), [rows, textOf, shownSearch])
  const list = useMemo(() => <FirstRows rows={found}>{children}</FirstRows>, [found, children])
  return (
    <>
      {(rows.length >= MANY || search !== '') && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-5 py-3">
          <p role="status" className="text-[13px] text-ink-soft">
            {found.length === rows.length
              ? `${formatWhole(rows.length)} ${thing}s`
              : `${formatWhole(found.length)} of ${formatWhole(rows.length)} ${thing}s`}
          </p>
          <SearchField label={label} value={search} onChange={setSearch} />
        </div>
      )}
      {found.length === 0 ? (
        <EmptyState title={`No ${thing} matches`}>{searched}</EmptyState>
      ) : (
        list
      )}
    </>
  )
}

export function SearchedTable<Row>({
  label,
  columns,
  keyOf,
  isStackedOnPhones = true,
  ...search
}: Omit<Parameters<typeof SearchedRows<Row>>[0], 'children' | 'label'> &
  Omit<Parameters<typeof ColumnTable<Row>>[0], 'rows'>) {
  return (
    <SearchedRows {...search}>
      {(shown) => (
        <ColumnTable
          label={label}
          columns={columns}
          rows={shown}
          keyOf={keyOf}
          isStackedOnPhones={isStackedOnPhones}
        />
      )}
    </SearchedRows>
  )
}
