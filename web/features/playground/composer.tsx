import { ArrowUp, Square } from 'lucide-react'
import { type KeyboardEvent, type Ref, useId } from 'react'
import { REASONING_EFFORTS } from '../../../src/contract/words.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS, SelectField, TextAreaField, TextField } from '../../ui/field.tsx'
import { EXAMPLE_TOOLS, type SettingProblems, type Settings } from './settings.ts'

export interface ComposerProps {
  readonly ref: Ref<HTMLTextAreaElement>
  readonly draft: string
  readonly onDraft: (draft: string) => void
  readonly onSend: () => void
  readonly onStop: () => void
  readonly isRunning: boolean
  /** Why nothing can be sent at the moment, apart from an empty field. */
  readonly obstacle: string | undefined
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
    // During IME composition Enter selects characters.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (canSend) onSend()
  }
  return (
    <div className="flex flex-col gap-2">
      {onCancelEdit !== undefined && (
        <p className="flex items-center justify-between gap-2 rounded-lg bg-accent-soft px-3 py-1.5 text-[13px] text-accent-strong">
          Sending your last message again removes everything after that message.
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
            Conversations are not stored: they stay in this tab’s memory until you reload. Calls of
            the playground count for limits, and are in the log without their content.
          </>
        )}
      </p>
    </div>
  )
}

export function SettingsPanel({
  settings,
  problems = {},
  onChange,
}: {
  readonly settings: Settings
  readonly problems?: SettingProblems | undefined
  readonly onChange: (changed: Partial<Settings>) => void
}) {
  return (
    <div className="flex flex-col gap-5 p-4">
      <TextAreaField
        label="System prompt"
        isOptional
        rows={4}
        placeholder="You answer in one sentence."
        value={settings.system}
        onChange={(event) => onChange({ system: event.target.value })}
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Temperature"
          inputMode="decimal"
          placeholder="default"
          value={settings.temperature}
          problem={problems.temperature}
          onChange={(event) => onChange({ temperature: event.target.value })}
        />
        <TextField
          label="Output limit"
          inputMode="numeric"
          placeholder="default"
          value={settings.maxOutputTokens}
          problem={problems.maxOutputTokens}
          onChange={(event) => onChange({ maxOutputTokens: event.target.value })}
        />
      </div>
      <SelectField
        label="Reasoning effort"
        value={settings.effort}
        hint="The gate decides about a default, or else the model."
        onChange={(event) => onChange({ effort: event.target.value })}
      >
        <option value="">default</option>
        {REASONING_EFFORTS.map((effort) => (
          <option key={effort}>{effort}</option>
        ))}
      </SelectField>
      <div className="flex flex-col gap-2">
        <TextAreaField
          label="Tools"
          isOptional
          isCode
          rows={8}
          spellCheck={false}
          placeholder='[{"name": "get_weather", "parameters": {…}}]'
          hint="JSON, in this gateway’s form or OpenAI’s. You answer the calls yourself."
          value={settings.tools}
          problem={problems.tools}
          onChange={(event) => onChange({ tools: event.target.value })}
        />
        {settings.tools === '' && (
          <Button
            size="small"
            className="self-start"
            onClick={() => onChange({ tools: EXAMPLE_TOOLS })}
          >
            Insert an example
          </Button>
        )}
      </div>
    </div>
  )
}
