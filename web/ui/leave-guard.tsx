/** Confirms leaving a page with unsaved changes, also by browser navigation. */
import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from './dialog.tsx'

export function LeaveGuard({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    // A change of the search parameters keeps the page and its text.
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
