/** Shows a new key, this once: after closing, it is in no memory of the page. */
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DialogActions } from '../../ui/dialog.tsx'

/** For the window that it is shown in. */
export const SHOWN_ONCE = 'Copy the key now and keep it in a safe place. It is not shown again.'

export function NewKeyShown({
  created,
  onClose,
  children,
}: {
  readonly created: { readonly key: string }
  readonly onClose: () => void
  /** More about this key. */
  readonly children?: ReactNode
}) {
  return (
    <>
      <CodeBlock code={created.key} label="the new key" isWrapped />
      {children}
      <p className="mt-4 rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
        Whoever has it can do everything in this account. Do not put it into code that runs in browsers, or
        into version control.
      </p>
      <DialogActions>
        <CopyButton text={created.key} label="Copy the key" isIcon={false} />
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  )
}
