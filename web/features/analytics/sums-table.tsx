import { Link } from '@tanstack/react-router'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { formatCount } from '../../format/figures.ts'
import { readUnknown } from '../../format/usage-measures.ts'
import { classNames } from '../../ui/class-names.ts'
import { type Choices, type GroupName, NAMED_GROUPS, toSearch } from './choices.ts'
import { type Column, columnsOf, type NameGroup, type Sum, sortSums } from './columns.ts'

const NAME_COLUMN = 'name'
/** The column of names takes the width that the figures leave; a longer name is cut. */
const NAME_CLASS =
  'sticky left-0 w-full max-w-0 min-w-36 rail:min-w-32 bg-surface pr-3 pl-5 text-left'
/** A note below a figure, wrapped where the table is narrow. */
const MARK =
  'block text-xs min-w-18 whitespace-normal rail:min-w-16 max-sm:whitespace-nowrap min-[90rem]:whitespace-nowrap'

export function SumsTable({
  sums,
  total,
  choices,
  groupLabel,
  name,
  onSort,
}: {
  readonly sums: readonly Sum[]
  readonly total: Sum | undefined
  readonly choices: Choices
  readonly groupLabel: string
  readonly name: NameGroup
  readonly onSort: (sort: string, isAscending: boolean) => void
}) {
  const { sort, isAscending } = choices
  const columns = columnsOf(sums)
  const head = (id: string, label: string, isNumber: boolean) => (
    <SortableTh
      key={id}
      label={label}
      isNumber={isNumber}
      order={sort === id ? (isAscending ? 'ascending' : 'descending') : undefined}
      onSort={() => onSort(id, sort === id ? !isAscending : id === NAME_COLUMN)}
    />
  )
  return (
    <section
      className="overflow-x-auto rounded-b-xl"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      aria-label={`Figures by ${groupLabel.toLowerCase()}`}
    >
      <table className="w-full border-collapse text-[13px] rail:text-xs [&_td]:px-1 [&_td]:py-2.5 [&_td]:whitespace-nowrap min-[90rem]:[&_td]:px-1.5">
        <thead>
          <tr>
            {head(NAME_COLUMN, groupLabel, false)}
            {columns.map(({ id, label }) => head(id, label, true))}
          </tr>
        </thead>
        <tbody>
          {sortSums(sums, choices, name).map((sum) => (
            <tr
              key={`${sum.isRest}-${sum.group}`}
              className="border-t border-line hover:bg-sunken/60"
            >
              <th
                scope="row"
                className={classNames(NAME_CLASS, 'truncate py-2.5 font-medium text-ink')}
                title={name(sum)}
              >
                <GroupLink sum={sum} by={choices.by} choices={choices} name={name(sum)} />
              </th>
              <Figures sum={sum} columns={columns} />
            </tr>
          ))}
        </tbody>
        {total !== undefined && (
          <tfoot>
            <tr className="border-t border-line-strong font-medium">
              <th scope="row" className={classNames(NAME_CLASS, 'py-2.5 text-ink')}>
                Total
              </th>
              <Figures sum={total} columns={columns} />
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  )
}

function Figures({ sum, columns }: { readonly sum: Sum; readonly columns: readonly Column[] }) {
  return columns.map((column) => (
    <td key={column.id} className="text-right tabular-nums text-ink-soft last:pr-5">
      {column.format(column.read(sum))}
      {column.id === 'cost' && <CostMarks sum={sum} />}
      {column.id === 'errors' && (sum.refused ?? 0) > 0 && (
        <span
          className={classNames(MARK, 'text-ink-faint')}
          title="Calls that the gateway refused before a provider was asked. They are not errors."
        >
          {formatCount(sum.refused)} refused
        </span>
      )}
    </td>
  ))
}

function CostMarks({ sum }: { readonly sum: Sum }) {
  const { estimatedCalls } = sum.cost
  const { unpriced, unreported } = readUnknown(sum)
  return (
    <>
      <Mark
        count={estimatedCalls}
        what="estimated"
        title="Calls whose cost is an estimate. The estimate is part of the sum."
      />
      <Mark
        count={unpriced}
        what="without a price"
        title="Calls to models that have no price. Their cost is not part of the sum."
        isWarning
      />
      <Mark
        count={unreported}
        what="without tokens"
        title="Calls whose provider reported no tokens. Their cost is not part of the sum."
        isWarning
      />
    </>
  )
}

function Mark({
  count,
  what,
  title,
  isWarning = false,
}: {
  readonly count: number
  readonly what: string
  readonly title: string
  readonly isWarning?: boolean
}) {
  if (count === 0) return null
  return (
    <span className={classNames(MARK, isWarning ? 'text-warn' : 'text-ink-faint')} title={title}>
      {formatCount(count)} {count === 1 ? 'call' : 'calls'} {what}
    </span>
  )
}

/** A gate, target or key becomes a filter, and the table changes to the next grouping. */
function GroupLink({
  sum,
  by,
  choices,
  name,
}: {
  readonly sum: Sum
  readonly by: GroupName
  readonly choices: Choices
  readonly name: string
}) {
  const filter = NAMED_GROUPS.find((known) => known === by)
  if (
    filter === undefined ||
    choices.thenBy !== undefined ||
    sum.group === null ||
    sum.isRest ||
    choices.filters[filter] === sum.group
  )
    return name
  const search = toSearch({
    ...choices,
    by: filter === 'gate' ? 'target' : 'gate',
    filters: { ...choices.filters, [filter]: sum.group },
  })
  return (
    <Link to="." search={search} className="rounded-sm hover:underline">
      {name}
    </Link>
  )
}

function SortableTh({
  label,
  isNumber,
  order,
  onSort,
}: {
  readonly label: Column['label']
  readonly isNumber: boolean
  readonly order: 'ascending' | 'descending' | undefined
  readonly onSort: () => void
}) {
  const Arrow = order === 'ascending' ? ArrowUp : ArrowDown
  return (
    <th
      scope="col"
      aria-sort={order}
      className={classNames(
        'h-11 bg-surface py-2 align-bottom text-xs leading-4 font-medium text-ink-faint last:pr-5 rail:text-[11px]',
        isNumber ? 'px-1 text-right min-[90rem]:px-1.5' : `z-1 ${NAME_CLASS}`,
      )}
    >
      <button
        type="button"
        onClick={onSort}
        className={classNames(
          'rounded-sm hover:text-ink',
          isNumber ? 'text-right' : 'text-left',
          order !== undefined && 'text-ink',
        )}
      >
        {order !== undefined && <Arrow aria-hidden className="mr-0.5 inline size-3" />}
        {label}
      </button>
    </th>
  )
}
