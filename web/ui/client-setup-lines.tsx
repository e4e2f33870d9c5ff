import type { ClientSetup } from './client-setups.ts'
import { CodeBlock } from './code-block.tsx'

/** The lines of one client, each block with a button that copies it. */
export function ClientSetupLines({
  setup,
  token,
  onCopied,
}: {
  readonly setup: ClientSetup
  /** The token in the lines, if any. */
  readonly token: string | undefined
  /** Called when a block with the token was copied. */
  readonly onCopied?: () => void
}) {
  const { name, command, note, parts } = setup
  const block = (place: string, code: string, title = place) => {
    const hasToken = token !== undefined && code.includes(token)
    return (
      <div key={place} className="flex min-w-0 flex-col gap-1.5">
        <p className="text-[13px] text-ink-soft">{title}</p>
        <CodeBlock
          code={code}
          label={`${name}: ${place}`}
          isWrapped={hasToken || code === command}
          {...(hasToken && onCopied !== undefined ? { onCopied } : {})}
        />
      </div>
    )
  }
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {command !== undefined && block('gatehouse connect', command, CONNECT_TITLE)}
      {note !== undefined && <p className="text-[13px] text-ink-soft">{note}</p>}
      {command !== undefined && (
        <p className="-mb-1 border-t border-line pt-4 text-[13px] font-medium text-ink">
          Or by hand
        </p>
      )}
      {parts.map(({ place, code }) => block(place, code))}
    </div>
  )
}

const CONNECT_TITLE =
  'With the command gatehouse, which writes the configuration, keeps a backup and tries a call'
