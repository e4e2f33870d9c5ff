import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { type AnswerOf, ask } from '../../api/ask.ts'
import { operationQuery, wholeListQuery } from '../../api/operation-query.ts'
import { gatesOfProvider } from '../../format/gate-targets.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Form, FormRefusal } from '../../ui/form.tsx'
import { GateLinks } from '../../ui/gate-links.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { DeleteDialog, type RowDialogProps } from '../../ui/resource-page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { useChange } from '../../ui/use-change.ts'
import { ProviderItem } from './provider-item.tsx'
import { matchesSearch, orderProviders, type ProviderRow, toProviderRows } from './provider-rows.ts'

export function ProviderKeysPage() {
  const providers = useQuery(operationQuery('GET /v1/providers'))
  const keys = useQuery(wholeListQuery('GET /v1/provider-keys'))
  return (
    <Page
      title="Provider keys"
      note="A key of your own replaces the platform’s credential for one provider."
    >
      <Explanation />
      <Card>
        <QueryBoundary query={providers}>
          {(catalog) => (
            <QueryBoundary query={keys}>
              {(ownKeys) => <ProviderList rows={toProviderRows(catalog.data, ownKeys)} />}
            </QueryBoundary>
          )}
        </QueryBoundary>
      </Card>
    </Page>
  )
}

function Explanation() {
  return (
    <dl className="grid gap-x-8 gap-y-3 text-[13px] sm:grid-cols-3">
      <Point term="Who pays">
        Calls with your key are charged to your account at the provider, and do not count for your
        plan’s quota.
      </Point>
      <Point term="When it is refused">
        The call fails. The platform’s credential never replaces a key that the provider refused.
      </Point>
      <Point term="While it is inactive">
        Calls use the platform’s credential, or fail if the platform has none.
      </Point>
    </dl>
  )
}

function Point({ term, children }: { readonly term: string; readonly children: string }) {
  return (
    <div className="border-l-2 border-line-strong pl-3">
      <dt className="font-medium text-ink">{term}</dt>
      <dd className="mt-0.5 text-ink-soft">{children}</dd>
    </div>
  )
}

function ProviderList({ rows }: { readonly rows: readonly ProviderRow[] }) {
  // Fixed when the page opens, so that a row does not move after its key was set.
  const [order] = useState(() => orderProviders(rows))
  const [search, setSearch] = useState('')
  const [warnings, setWarnings] = useState<ReadonlyMap<string, string>>(new Map())
  const [keyFor, setKeyFor] = useState<ProviderRow>()
  const [deleted, setDeleted] = useState<ProviderRow>()
  const ordered = rows.toSorted(
    (left, right) => order.indexOf(left.provider.id) - order.indexOf(right.provider.id),
  )
  const found = ordered.filter((row) => matchesSearch(row, search))
  const ownCount = rows.filter(({ ownKey }) => ownKey !== undefined).length
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-5 py-3">
        <p className="text-[13px] text-ink-soft" role="status">
          {found.length} {found.length === 1 ? 'provider' : 'providers'},{' '}
          {ownCount === 0 ? 'none with your key' : `${ownCount} with your key`}
        </p>
        <SearchField label="Find a provider" value={search} onChange={setSearch} />
      </div>
      {found.length === 0 ? (
        <EmptyState title="No provider matches">
          Register other servers with one of these formats as owned models.
        </EmptyState>
      ) : (
        <ul aria-label="Providers" className="divide-y divide-line">
          {found.map((row) => (
            <ProviderItem
              key={row.provider.id}
              row={row}
              warning={row.ownKey && warnings.get(row.provider.id)}
              onSet={() => setKeyFor(row)}
              onDelete={() => setDeleted(row)}
            />
          ))}
        </ul>
      )}
      <SetKeyDialog
        row={keyFor}
        onSaved={(providerId, [warning]) =>
          setWarnings((before) => new Map([...before, [providerId, warning?.message ?? '']]))
        }
        onClose={() => setKeyFor(undefined)}
      />
      {deleted !== undefined && (
        <DeleteProviderKeyDialog row={deleted} onClose={() => setDeleted(undefined)} />
      )}
    </>
  )
}

function DeleteProviderKeyDialog({ row, onClose }: RowDialogProps<ProviderRow>) {
  const { id, name } = row.provider
  return (
    <DeleteDialog
      one="key"
      name={name}
      title={`Delete your key for ${name}?`}
      send={() => ask('DELETE /v1/provider-keys/{provider}', { path: { provider: id } })}
      makesStale={['GET /v1/provider-keys', 'GET /v1/providers']}
      done={`Key for ${name} deleted`}
      onClose={onClose}
    >
      <p>
        A deleted key cannot be restored, because the gateway keeps no copy. To pause the key,
        switch it off instead.
      </p>
      <Consequences row={row} />
    </DeleteDialog>
  )
}

function Consequences({ row: { provider } }: { readonly row: ProviderRow }) {
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  if (gates.isError)
    return <p className="mt-2">The gates that use this provider could not be loaded.</p>
  if (gates.data === undefined) return <p className="mt-2">Looking up which gates use it…</p>
  const users = gatesOfProvider(gates.data, provider.id)
  if (users.length === 0) return <p className="mt-2">No gate has a target of this provider.</p>
  return (
    <p
      className={classNames(
        'mt-3 rounded-lg px-3 py-2 text-[13px]',
        provider.configured ? 'bg-sunken text-ink' : 'bg-warn-soft text-warn',
      )}
    >
      {users.length === 1 ? 'One gate has' : `${users.length} gates have`} targets of this provider:{' '}
      <GateLinks gates={users} />.{' '}
      {provider.configured
        ? 'Calls to these targets will use the platform’s credential, and count for your plan’s quota.'
        : 'Calls to these targets will fail, because the platform has no credential for the provider.'}
    </p>
  )
}

const MAX_KEY_LENGTH = 20_000
const HIDDEN = '…'

/**
 * Takes an own key for a provider and sends it to the gateway. No state, cache or answer of the
 * page ever contains the key.
 */
function SetKeyDialog({
  row,
  onSaved,
  onClose,
}: {
  readonly row: ProviderRow | undefined
  readonly onSaved: OnKeySaved
  readonly onClose: () => void
}) {
  if (row === undefined) return null
  const { provider, ownKey } = row
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={
        ownKey === undefined
          ? `Set your key for ${provider.name}`
          : `Replace your key for ${provider.name}`
      }
      note={`Calls to ${provider.id}/… will be charged to your account at the provider. If the provider refuses the key, these calls fail; the platform’s credential does not replace your key.`}
    >
      {!provider.hasAddress && (
        <p className="mb-4 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
          This gateway does not know where your {provider.name} is: until its operator has given the
          address, calls fail with any key.
        </p>
      )}
      <SetKeyForm row={row} onSaved={onSaved} onClose={onClose} />
    </Dialog>
  )
}

type Warnings = AnswerOf<'PUT /v1/provider-keys/{provider}'>['warnings']

type OnKeySaved = (providerId: string, warnings: Warnings) => void

function SetKeyForm({
  row: { provider, ownKey },
  onSaved,
  onClose,
}: {
  readonly row: ProviderRow
  readonly onSaved: OnKeySaved
  readonly onClose: () => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const isActive = ownKey?.active ?? true
  const save = useChange({
    // No argument, because a mutation's argument stays in the cache.
    send: () =>
      ask('PUT /v1/provider-keys/{provider}', {
        path: { provider: provider.id },
        body: { key: field.current?.value.trim() ?? '', active: isActive },
      }),
    isSecret: true,
    makesStale: ['GET /v1/provider-keys', 'GET /v1/providers'],
    done: ({ maskedKey, probe, warnings }) => [
      `Key for ${provider.name} ${ownKey === undefined ? 'set' : 'replaced'}`,
      {
        description: [
          isActive
            ? `Calls that begin now use ${maskedKey === HIDDEN ? 'the new key' : maskedKey}.`
            : 'The new key is inactive, like the previous key.',
          ...(warnings.length === 0 ? [probe.detail] : []),
        ].join(' '),
      },
    ],
    onDone: ({ warnings }) => {
      onSaved(provider.id, warnings)
      onClose()
    },
  })
  return (
    <Form onSubmit={() => save.mutate()} error={save.error} autoComplete="off">
      <SecretField
        label="Key"
        ref={field}
        autoFocus
        maxLength={MAX_KEY_LENGTH}
        field="key"
        hint="As the provider gave it: an API key, an access key id and its secret joined by a colon, or the JSON of a service account. It is encrypted and never shown again. The gateway tests it with a request that costs nothing, where the provider has one, and saves it either way."
      />
      <FormRefusal className="mt-4" />
      <FormActions onCancel={onClose} isBusy={save.isPending}>
        {ownKey === undefined ? 'Set the key' : 'Replace the key'}
      </FormActions>
    </Form>
  )
}
