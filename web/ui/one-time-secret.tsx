/**
 * A secret that is shown once, in a dialog that asks before closing unless the secret was copied.
 */
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useCallback, useState } from 'react'
import { Button } from './button.tsx'
import { CodeBlock } from './code-block.tsx'
import { CopyButton } from './copy-button.tsx'
import { DialogActions, useCloseGuard } from './dialog.tsx'

export function OneTimeSecret({
  secret,
  name,
  region = `the ${name}`,
  children,
}: {
  readonly secret: string
  readonly name: string
  readonly region?: string
  /** More about the secret. Call the function when the same secret was copied there. */
  readonly children?: (onCopied: () => void) => ReactNode
}) {
  const [wasCopied, setCopied] = useState(false)
  const [isAsking, setAsking] = useState(false)
  // A second Escape cancels the question, and the secret is still shown.
  const openWindow = useCloseGuard(
    useCallback(() => {
      if (!wasCopied) setAsking((before) => !before)
      return wasCopied
    }, [wasCopied]),
  )
  useBlocker({
    shouldBlockFn: () => {
      setAsking(true)
      return true
    },
    enableBeforeUnload: true,
    disabled: wasCopied,
  })
  const copied = () => {
    setCopied(true)
    setAsking(false)
  }
  const copyButton = (
    <CopyButton
      text={secret}
      label={`Copy the ${name}`}
      isIcon={false}
      look={isAsking ? 'primary' : 'plain'}
      takesFocus={!wasCopied}
      onCopied={copied}
    />
  )
  return (
    <>
      <CodeBlock code={secret} label={region} isWrapped hasButton={false} onCopied={copied} />
      {children?.(copied)}
      {isAsking ? (
        <div role="alert" className="mt-6 rounded-lg border border-warn bg-warn-soft px-4 py-3">
          <p className="text-sm font-medium text-warn">You have not copied the {name}.</p>
          <p className="mt-0.5 text-[13px] text-warn">
            After this dialog is closed, the text cannot be shown again.
          </p>
          <div className="mt-3 flex flex-wrap justify-end gap-2">
            <Button look="danger" onClick={() => openWindow?.closeUnasked()}>
              Close without copying
            </Button>
            {copyButton}
          </div>
        </div>
      ) : (
        <DialogActions>
          {wasCopied && (
            <p role="status" className="mr-auto self-center text-[13px] text-ok">
              Copied.
            </p>
          )}
          {copyButton}
          <Button look="primary" autoFocus={wasCopied} onClick={() => openWindow?.close()}>
            Done
          </Button>
        </DialogActions>
      )}
    </>
  )
}
