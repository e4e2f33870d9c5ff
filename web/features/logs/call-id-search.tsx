/** Opens a call by its id, which is the `x-request-id` of the answer. */
import { Search } from 'lucide-react'
import { type ClipboardEvent, type FormEvent, type Ref, useState } from 'react'
import { classNames } from '../../ui/class-names.ts'
import { CONTROL_CLASS } from '../../ui/field.tsx'

const CALL_ID = /\breq_[0-9a-f]{32}\b/

export function CallIdSearch({
  ref,
  onFound,
}: {
  readonly ref: Ref<HTMLInputElement>
  readonly onFound: (callId: string) => void
}) {
  const [text, setText] = useState('')
  const [isRefused, setRefused] = useState(false)

  /** @returns whether there was an id in it */
  const openFrom = (written: string): boolean => {
    const id = CALL_ID.exec(written)?.[0]
    if (id === undefined) return false
    setText('')
    setRefused(false)
    onFound(id)
    return true
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '' && !openFrom(text)) setRefused(true)
  }
  const paste = (event: ClipboardEvent) => {
    // A whole header line may be pasted: the id is taken out of it.
    if (openFrom(event.clipboardData.getData('text'))) event.preventDefault()
  }
  return (
    <form noValidate onSubmit={submit} className="relative w-full min-w-0 sm:w-80">
      <Search aria-hidden className="absolute top-2 left-2.5 size-4 text-ink-faint" />
      <input
        ref={ref}
        type="search"
        aria-label="Open a call by its id"
        aria-invalid={isRefused || undefined}
        aria-describedby={isRefused ? 'call-id-problem' : undefined}
        placeholder="Paste an x-request-id"
        value={text}
        spellCheck={false}
        autoComplete="off"
        onPaste={paste}
        onChange={(event) => {
          setText(event.target.value)
          setRefused(false)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
        }}
        className={classNames(CONTROL_CLASS, 'h-8 pl-8 text-[13px]')}
      />
      {isRefused && (
        <p
          id="call-id-problem"
          role="alert"
          className="absolute top-9 left-0 z-20 rounded-md border border-line bg-surface px-2.5 py-1.5 text-xs text-danger shadow-high"
        >
          An id looks like req_ and 32 digits and letters a–f.
        </p>
      )}
    </form>
  )
}
