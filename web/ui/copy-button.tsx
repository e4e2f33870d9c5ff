/** Puts a text on the clipboard and says that it did. */
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'

const SHOWN_MS = 1_600

export function CopyButton({
  text,
  label = 'Copy',
  isIcon = true,
  onCopied,
}: {
  readonly text: string
  readonly label?: string
  readonly isIcon?: boolean
  readonly onCopied?: () => void
}) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])

  const copy = async () => {
    await copyText(text)
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
    <Button onClick={() => void copy()}>
      {icon}
      {isCopied ? 'Copied' : label}
    </Button>
  )
}

/** Pages that were not served over https have no clipboard of their own: there the old way still works. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text)
    return
  }
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
