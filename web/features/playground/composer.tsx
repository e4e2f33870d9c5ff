/** The field for the next message: Enter sends, Shift+Enter makes a line. */
import { ArrowUp, Square } from 'lucide-react'
import { type KeyboardEvent, type Ref, useId } from 'react'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'

export interface ComposerProps {
  readonly ref: Ref<HTMLTextAreaElement>
  readonly draft: string
  readonly onDraft: (draft: string) => void
  readonly onSend: () => void
  readonly onStop: () => void
  readonly isRunning: boolean
  /** Why nothing can be sent at the moment, beside that there is nothing to send. */
  readonly obstacle: string | undefined
  /** The last message is being written anew; absent: a new one is. */
  readonly onCancelEdit: (() => void) | undefined
}

export function Composer({
  ref,
  draft,
  onDraft,
  onSend,
  onStop,
  isRunning,
  obstacle,
  onCancelEdit,
}: ComposerProps) {
  const noteId = useId()
  const canSend = !isRunning && obstacle === undefined && draft.trim() !== ''
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !isRunning) onCancelEdit?.()
    // While characters are being composed, Enter chooses among them.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (canSend) onSend()
  }
  return (
    <div className="flex flex-col gap-2">
      {onCancelEdit !== undefined && (
        <p className="flex items-center justify-between gap-2 rounded-lg bg-accent-soft px-3 py-1.5 text-[13px] text-accent-strong">
          Your last message, to be sent anew. Sending it drops what came after it.
          <Button size="small" look="quiet" onClick={onCancelEdit}>
            Cancel
          </Button>
        </p>
      )}
      <div className="flex items-end gap-2">
        <textarea
          ref={ref}
          aria-label="Message"
          aria-describedby={noteId}
          placeholder="Say something"
          rows={2}
          value={draft}
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
          className={classNames(
            CONTROL_CLASS,
            'field-sizing-content max-h-52 min-h-16 resize-none py-2.5',
          )}
        />
        {isRunning ? (
          <Button onClick={onStop} aria-keyshortcuts="Escape">
            <Square aria-hidden className="size-3.5 fill-current" />
            Stop
          </Button>
        ) : (
          <Button look="primary" onClick={onSend} disabled={!canSend}>
            <ArrowUp aria-hidden className="size-4" />
            Send
          </Button>
        )}
      </div>
      <p
        id={noteId}
        className={classNames('text-xs', obstacle === undefined ? 'text-ink-faint' : 'text-warn')}
      >
        {obstacle ?? (
          <>
            <span className="hidden sm:inline">
              Enter sends, Shift+Enter makes a line, Escape stops.{' '}
            </span>
            Nothing said here is stored: it is in this tab’s memory until you reload. The calls
            count, and are in the log without their content.
          </>
        )}
      </p>
    </div>
  )
}
