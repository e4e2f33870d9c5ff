/** The rows of the keys, and a search when there are many. */
import { useState } from 'react'
import type { RowOf } from '../../api/ask.ts'
import { formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Table, Th } from '../../ui/table.tsx'
import { type RecentUse, useRecentUse } from './recent-use.ts'

export type ApiKey = RowOf<'GET /v1/keys'>

/** Fewer are seen at a glance. */
const MANY_KEYS = 8

export function KeyTable({
  keys,
  onDelete,
}: {
  readonly keys: readonly ApiKey[]
  readonly onDelete: (key: ApiKey) => void
}) {
  const [search, setSearch] = useState('')
  const recentUseOf = useRecentUse()
  const found = keys.filter((key) =>
    `${key.name} ${key.maskedPrefix}`.toLowerCase().includes(search.trim().toLowerCase()),
  )
  return (
    <>
      {keys.length >= MANY_KEYS && (
        <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-5 py-3">
          <p role="status" className="text-[13px] text-ink-soft">
            {found.length === keys.length ? `${keys.length} keys` : `${found.length} of ${keys.length} keys`}
          </p>
          <SearchField label="Find a key" value={search} onChange={setSearch} />
        </div>
      )}
      {found.length === 0 ? (
        <EmptyState title="No key matches">Names and the beginnings of keys are searched.</EmptyState>
      ) : (
        <Table
          label="API keys"
          head={
            <>
              <Th>Name</Th>
              <Th isWideOnly>Key</Th>
              <Th isNumber>Calls, last 24 h</Th>
              <Th>Last used</Th>
              <Th isWideOnly>Created</Th>
              <Th isHidden>Delete</Th>
            </>
          }
        >
          {found.map((key) => (
            <tr key={key.id}>
              <td className="max-w-72 min-w-32 font-medium wrap-anywhere text-ink">
                {key.name}
                <MaskedKey apiKey={key} className="block font-normal sm:hidden" />
              </td>
              <td className="max-sm:hidden">
                <MaskedKey apiKey={key} />
              </td>
              <td className="text-right whitespace-nowrap tabular-nums">
                <Calls apiKey={key} use={recentUseOf(key.id)} />
              </td>
              <td className="text-ink-soft">
                <Moment at={key.lastUsedAt} />
              </td>
              <td className="text-ink-soft max-sm:hidden">
                <Moment at={key.createdAt} />
              </td>
              <td className="text-right">
                <Button
                  look="danger"
                  size="small"
                  aria-label={`Delete ${key.name}`}
                  onClick={() => onDelete(key)}
                >
                  Delete
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

function Calls({ apiKey, use }: { readonly apiKey: ApiKey; readonly use: RecentUse | undefined }) {
  if (use === undefined) return <span className="text-ink-faint">{NOT_KNOWN}</span>
  if (use.calls === 0) return <span className="text-ink-faint">0</span>
  const calls = formatWhole(use.calls)
  return (
    <>
      <PageLink
        to="/logs"
        search={{ key: apiKey.id }}
        label={`${calls} ${use.calls === 1 ? 'call' : 'calls'}, to the logs of ${apiKey.name}`}
      >
        {calls}
      </PageLink>
      {use.errors > 0 && <span className="block text-xs text-danger">{formatWhole(use.errors)} failed</span>}
    </>
  )
}

/** In a column of its own, or on phones below the name. */
function MaskedKey({ apiKey, className }: { readonly apiKey: ApiKey; readonly className?: string }) {
  return (
    <code className={classNames('font-mono text-[13px] whitespace-nowrap text-ink-soft', className)}>
      {apiKey.maskedPrefix}
    </code>
  )
}
