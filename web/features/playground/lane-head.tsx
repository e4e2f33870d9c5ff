/** The head of a conversation: its gate, and its buttons. */
import { Code, Columns2, X } from 'lucide-react'
import type { RowOf } from '../../api/ask.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CONTROL_CLASS } from '../../ui/field.tsx'

export type Gate = RowOf<'GET /v1/gates'>

interface GateChoiceProps {
  readonly label: string
  readonly gates: readonly Gate[]
  readonly gateId: string
  readonly onChoose: (gateId: string) => void
}

export function LaneHead({
  onCode,
  onCompare,
  onClose,
  ...choice
}: GateChoiceProps & {
  /** Absent: there is no request to write down. */
  readonly onCode: (() => void) | undefined
  readonly onCompare: (() => void) | undefined
  readonly onClose: (() => void) | undefined
}) {
  return (
    <>
      <GateChoice {...choice} />
      <div className="ml-auto flex shrink-0 items-center">
        <Button size="small" look="quiet" disabled={onCode === undefined} onClick={onCode}>
          <Code aria-hidden className="size-4" />
          Code
          <span className="sr-only"> of the conversation with {choice.gateId}</span>
        </Button>
        {onCompare !== undefined && (
          <Button size="small" look="quiet" onClick={onCompare}>
            <Columns2 aria-hidden className="size-4" />
            Compare
            <span className="sr-only"> with another gate</span>
          </Button>
        )}
        {onClose !== undefined && (
          <IconButton size="small" label={`Close ${choice.gateId}`} onClick={onClose}>
            <X aria-hidden className="size-4" />
          </IconButton>
        )}
      </div>
    </>
  )
}

function GateChoice({ label, gates, gateId, onChoose }: GateChoiceProps) {
  const isKnown = gates.some(({ id }) => id === gateId)
  return (
    <select
      aria-label={label}
      value={gateId}
      onChange={({ target }) => onChoose(target.value)}
      className={`${CONTROL_CLASS} h-8 !w-auto max-w-80 min-w-0 shrink truncate pr-7`}
    >
      {!isKnown && <option value={gateId}>{gateId} (not found)</option>}
      {gates.map(({ id, displayName }) => (
        <option key={id} value={id}>
          {displayName === '' || displayName === id ? id : `${displayName} (${id})`}
        </option>
      ))}
    </select>
  )
}
