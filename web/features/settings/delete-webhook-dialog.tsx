/** Asks before a webhook is deleted: its secret cannot be brought back. */
import { ask } from '../../api/ask.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useChange } from '../../ui/use-change.ts'
import type { Webhook } from './webhook-events.ts'

export function DeleteWebhookDialog({
  webhook,
  onClose,
}: {
  readonly webhook: Webhook
  readonly onClose: () => void
}) {
  const remove = useChange({
    send: () => ask('DELETE /v1/webhooks/{id}', { path: { id: webhook.id } }),
    makesStale: ['GET /v1/webhooks'],
    done: 'Webhook deleted',
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Delete this webhook?"
      confirmLabel="Delete the webhook"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
    >
      <p>
        <code className="font-mono text-[13px] break-all text-ink">{webhook.url}</code> gets no more
        events, not even those on their way. To pause it, switch it off instead.
      </p>
    </ConfirmDialog>
  )
}
