import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { toast } from './toast.ts'

const SHOWN_MS = 1_600

export function CopyButton({
  text,
  label = 'Copy',
  isIcon = true,
  look = 'plain',
  takesFocus = false,
  onCopied,
}: {
  readonly text: string
  readonly label?: string
  readonly isIcon?: boolean
  readonly look?: 'plain' | 'primary'
  readonly takesFocus?: boolean
  readonly onCopied?: () => void
}) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])

  const copy = async () => {
    if (!(await copyText(text))) {
      toast('error', 'The browser did not copy it', {
        description: 'Select the text and copy it yourself.',
      })
      return
    }
    setCopied(true)
    onCopied?.()
  }
  const icon = isCopied ? (
    <Check aria-hidden className="size-3.5 text-ok" />
  ) : (
    <Copy aria-hidden className="size-3.5" />
  )
  if (isIcon) {
    return (
      <IconButton size="small" label={isCopied ? 'Copied' : label} onClick={() => void copy()}>
        {icon}
      </IconButton>
    )
  }
  return (
    <Button look={look} autoFocus={takesFocus} onClick={() => void copy()}>
      {icon}
      {isCopied ? 'Copied' : label}
    </Button>
  )
}

/**
 * Pages without https have no clipboard API, and some browsers refuse the API, so the function
 * falls back to `execCommand`.
 * @returns whether the text is on the clipboard
 */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    const isWritten = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (isWritten) return true
  }
  const before = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // A dialog traps the focus, so the text can only be selected inside the dialog.
  const place = before?.closest('[role="dialog"]') ?? document.body
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return isCopied
}
