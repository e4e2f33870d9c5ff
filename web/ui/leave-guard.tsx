/** Asks before a page with unsaved changes is left, also by the browser's own ways. */
import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from './dialog.tsx'

export function LeaveGuard({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    // Another part of the same page keeps what was typed.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      isOpen={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      confirmLabel="Leave"
      onConfirm={() => blocker.proceed?.()}
    >
      Your changes here have not been saved.
    </ConfirmDialog>
  )
}
