/** Shows a new key, this once: after closing, it is in no memory of the page. */
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import type { CreatedKey } from './new-key-form.tsx'

export function NewKeyShown({
  created,
  onClose,
}: {
  readonly created: CreatedKey
  readonly onClose: () => void
}) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`“${created.name}” is ready`}
      note="Copy the key now and keep it in a safe place. It is not shown again."
      width="wide"
    >
      <CodeBlock code={created.key} label="the new key" isWrapped />
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
    </Dialog>
  )
}
