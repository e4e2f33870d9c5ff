/**
 * A field that keeps unfinished parts of a day or a time, which have no value yet, to itself; it
 * follows a value that comes from elsewhere: from the way back, or a button that takes it away.
 */
import { type RefObject, useEffect, useRef } from 'react'

interface TypedField {
  readonly field: RefObject<HTMLInputElement | null>
  /** Called with the text that is to come back as the field's own. */
  readonly send: (text: string) => void
}

/** @param text empty: no value */
export function useTypedField(text: string): TypedField {
  const field = useRef<HTMLInputElement>(null)
  /** Those that have not come back yet: keys are faster than the address of the page. */
  const sent = useRef<readonly string[]>([])
  useEffect(() => {
    const place = sent.current.indexOf(text)
    sent.current = place < 0 ? [] : sent.current.slice(place + 1)
    if (place < 0 && field.current !== null && field.current.value !== text)
      field.current.value = text
  }, [text])
  return {
    field,
    send: (next) => {
      sent.current = [...sent.current, next]
    },
  }
}
