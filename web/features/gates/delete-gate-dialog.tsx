/**
 * Asks before a gate is deleted, says what will stop working, and makes it again if that was a
 * mistake.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { formatWhole } from '../../format/figures.ts'
import { ConfirmChange } from '../../ui/dialog.tsx'
import { describeError } from '../../ui/states.tsx'
import { toast, UNDO_MS } from '../../ui/toast.ts'
import { useChange } from '../../ui/use-change.ts'
import type { Gate } from './gate-draft.ts'
import { useRecentCalls } from './use-recent-calls.ts'

export function DeleteGateDialog({
  gate,
  isOpen,
  onClose,
}: {
  readonly gate: Gate
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const restore = async () => {
    try {
      const { createdAt: _, updatedAt: __, ...body } = gate
      await ask('POST /v1/gates', { body })
      await refresh(queryClient, 'GET /v1/gates', 'GET /v1/gates/{id}', 'GET /v1/targets/health')
      toast('success', `Gate “${gate.id}” created again`, {
        description: 'With everything that was set.',
      })
    } catch (error) {
      toast('error', `Gate “${gate.id}” could not be created again`, {
        description: describeError(error),
      })
    }
  }
  const remove = useChange({
    send: () => ask('DELETE /v1/gates/{id}', { path: { id: gate.id } }),
    onAnswer: async () => {
      onClose()
      // Leaves first: nobody should read that the page's gate is missing.
      await navigate({ to: '/gates', ignoreBlocker: true })
    },
    makesStale: ['GET /v1/gates', 'GET /v1/targets/health'],
    done: [
      `Gate “${gate.id}” deleted`,
      {
        description: 'Calls that name it are refused from now on.',
        action: { label: 'Undo', run: () => void restore() },
        durationMs: UNDO_MS,
      },
    ],
  })
  return (
    <ConfirmChange
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete “${gate.id}”?`}
      confirmLabel="Delete the gate"
      change={remove}
    >
      <p>It takes effect at once. Its calls stay in the log.</p>
      <RecentUse gateId={gate.id} />
    </ConfirmChange>
  )
}

function RecentUse({ gateId }: { readonly gateId: string }) {
  const { calls } = useRecentCalls()(gateId)
  if (calls === undefined) return <p className="mt-2">Looking up what uses it…</p>
  if (calls === 0)
    return <p className="mt-2">No calls were made through it in the last 24 hours.</p>
  return (
    <p className="mt-2 rounded-lg bg-warn-soft px-3 py-2 text-warn">
      <strong className="font-semibold">
        {formatWhole(calls)} {calls === 1 ? 'call' : 'calls'}
      </strong>{' '}
      went through it in the last 24 hours. Such calls will fail with status 404.
    </p>
  )
}
