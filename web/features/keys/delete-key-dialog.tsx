/** Asks before a key is deleted, and says what will stop working. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ask, type RowOf } from '../../api/ask.ts'
import { operationQuery, refresh } from '../../api/operation-query.ts'
import { formatWhole } from '../../format/figures.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { PageLink } from '../../ui/links.tsx'
import { Moment } from '../../ui/moment.tsx'
import { toast } from '../../ui/toast.ts'

const DAY_MS = 86_400_000

export function DeleteKeyDialog({
  doomed,
  onClose,
}: {
  readonly doomed: RowOf<'GET /v1/keys'> | undefined
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const remove = useMutation({
    mutationFn: (id: string) => ask('DELETE /v1/keys/{id}', { path: { id } }),
    onSuccess: async () => {
      await refresh(queryClient, 'GET /v1/keys')
      toast('success', `“${doomed?.name}” is deleted`, {
        description: 'Requests with it are refused from now on.',
      })
      onClose()
    },
  })
  return (
    <ConfirmDialog
      isOpen={doomed !== undefined}
      onClose={() => {
        remove.reset()
        onClose()
      }}
      title={`Delete “${doomed?.name}”?`}
      confirmLabel="Delete the key"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => doomed && remove.mutate(doomed.id)}
    >
      <p>It takes effect at once and cannot be undone.</p>
      {doomed !== undefined && <RecentUse apiKey={doomed} />}
    </ConfirmDialog>
  )
}

function RecentUse({ apiKey }: { readonly apiKey: RowOf<'GET /v1/keys'> }) {
  const from = useMemo(() => new Date(Date.now() - DAY_MS).toISOString(), [])
  const usage = useQuery(
    operationQuery('GET /v1/analytics', { query: { key: apiKey.id, from, interval: 'all' } }),
  )
  if (usage.isError) return <p className="mt-2">What uses it could not be looked up.</p>
  if (usage.data === undefined) return <p className="mt-2">Looking up what uses it…</p>
  const calls = usage.data.data.reduce((sum, { calls }) => sum + calls, 0)
  if (calls === 0) return <p className="mt-2">No calls were made with it in the last 24 hours.</p>
  return (
    <p className="mt-3 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
      <strong className="font-semibold">{calls === 1 ? '1 call' : `${formatWhole(calls)} calls`}</strong>{' '}
      {calls === 1 ? 'was' : 'were'} made with it in the last 24 hours, the last one{' '}
      <Moment at={apiKey.lastUsedAt} />. Calls like these will fail with status 401.{' '}
      <PageLink to="/logs" search={{ key: apiKey.id }}>
        See its logs
      </PageLink>
    </p>
  )
}
