/** Asks before a webhook is deleted: its secret cannot be brought back. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/operation-query.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.ts'
import type { Webhook } from './webhook-events.ts'

export function DeleteWebhookDialog({
  webhook,
  onClose,
}: {
  readonly webhook: Webhook
  readonly onClose: () => void
}) {
  const queryClient = useQueryClient()
  const remove = useMutation({
    mutationFn: () => ask('DELETE /v1/webhooks/{id}', { path: { id: webhook.id } }),
    onSuccess: async () => {
      await refresh(queryClient, 'GET /v1/webhooks')
      toast('success', 'Webhook deleted')
      onClose()
    },
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
