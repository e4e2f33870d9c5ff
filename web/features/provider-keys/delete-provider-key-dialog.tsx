/** Asks before an own key is deleted, and says which gates will be without it. */
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { gatesOfProvider } from '../../format/gate-targets.ts'
import { classNames } from '../../ui/class-names.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { GateLinks } from '../../ui/gate-links.tsx'
import { useChange } from '../../ui/use-change.ts'
import type { ProviderRow } from './provider-rows.ts'

export function DeleteProviderKeyDialog({
  row,
  onClose,
}: {
  /** Undefined: closed. */
  readonly row: ProviderRow | undefined
  readonly onClose: () => void
}) {
  const remove = useChange({
    send: ({ provider }: ProviderRow) =>
      ask('DELETE /v1/provider-keys/{provider}', { path: { provider: provider.id } }),
    makesStale: ['GET /v1/provider-keys'],
    done: (_, { provider }) => `Key for ${provider.name} deleted`,
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={row !== undefined}
      onClose={() => {
        remove.reset()
        onClose()
      }}
      title={`Delete your key for ${row?.provider.name}?`}
      confirmLabel="Delete the key"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => row && remove.mutate(row)}
    >
      <p>
        It cannot be brought back: the gateway keeps no copy. To pause it, switch it off instead.
      </p>
      {row !== undefined && <Consequences row={row} />}
    </ConfirmDialog>
  )
}

function Consequences({ row: { provider } }: { readonly row: ProviderRow }) {
  const gates = useQuery(wholeListQuery('GET /v1/gates'))
  if (gates.isError)
    return <p className="mt-2">Which gates use this provider could not be looked up.</p>
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
        ? 'They will use the platform’s credential, and count for your plan’s quota.'
        : 'These targets will fail: the platform has no credential for it.'}
    </p>
  )
}
