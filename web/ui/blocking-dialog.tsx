/**
 * A window that covers the whole page, and cannot be closed before what it asks for is done. The
 * page keeps what is on it.
 */
import { Dialog as RadixDialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { useWayBack, WINDOW } from './dialog.tsx'

const stay = (event: Event) => event.preventDefault()

export function BlockingDialog({
  title,
  note,
  children,
}: {
  readonly title: string
  readonly note: ReactNode
  readonly children: ReactNode
}) {
  return (
    <RadixDialog.Root open>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-[60] bg-canvas" />
        <RadixDialog.Content
          onEscapeKeyDown={stay}
          onInteractOutside={stay}
          onCloseAutoFocus={useWayBack()}
          className={classNames(WINDOW, 'z-[61] max-w-sm p-7')}
        >
          <RadixDialog.Title className="text-lg font-semibold tracking-tight text-ink">
            {title}
          </RadixDialog.Title>
          <RadixDialog.Description className="mt-1 mb-6 text-sm text-ink-soft">
            {note}
          </RadixDialog.Description>
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}
