import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { TextAreaField } from '../../ui/field.tsx'
import type { ToolCall, ToolResult } from './conversation.ts'

export function ToolCalls({
  calls,
  onAnswer,
  isLocked,
}: {
  readonly calls: readonly ToolCall[]
  readonly onAnswer: ((results: readonly ToolResult[]) => void) | undefined
  readonly isLocked: boolean
}) {
  const [contents, setContents] = useState<readonly string[]>([])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onAnswer?.(
      calls.map(({ id, name }, index) => ({ callId: id, name, content: contents[index] ?? '' })),
    )
  }
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-3">
      {calls.map((call, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: calls only grow at their end, and ids may repeat
          key={index}
          className="flex flex-col gap-2.5 rounded-lg border border-line bg-sunken/60 px-3.5 py-3"
        >
          <p className="text-[13px] text-ink-soft">
            Calls <code className="font-mono font-medium text-ink">{call.name}</code>
          </p>
          <pre className="font-mono text-[12.5px] leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap text-ink">
            {toReadable(call.arguments)}
          </pre>
          {onAnswer !== undefined && (
            <TextAreaField
              label={`Result of ${call.name}`}
              placeholder='{"sky": "clear"}'
              rows={2}
              isCode
              value={contents[index] ?? ''}
              onChange={({ target: { value } }) =>
                setContents(calls.map((_, at) => (at === index ? value : (contents[at] ?? ''))))
              }
            />
          )}
        </div>
      ))}
      {onAnswer !== undefined && (
        <Button type="submit" size="small" className="self-start" disabled={isLocked}>
          {calls.length === 1 ? 'Send the result' : 'Send the results'}
        </Button>
      )}
    </form>
  )
}

export function ToolResults({ results }: { readonly results: readonly ToolResult[] }) {
  return (
    <div className="ml-auto flex w-fit max-w-[85%] flex-col gap-2.5 rounded-xl bg-sunken px-3.5 py-2.5">
      {results.map(({ callId, name, content }) => (
        <div key={callId}>
          <p className="text-xs text-ink-faint">
            Result of <code className="font-mono">{name}</code>
          </p>
          <pre className="font-mono text-[12.5px] leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap text-ink">
            {content === '' ? '(empty)' : content}
          </pre>
        </div>
      ))}
    </div>
  )
}

/** Incomplete arguments are not valid JSON yet. */
function toReadable(written: string): string {
  try {
    return JSON.stringify(JSON.parse(written), null, 2)
  } catch {
    return written
  }
}
