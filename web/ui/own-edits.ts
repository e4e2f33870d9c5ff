/** Tells the reader's own edits of a form from the values that it began with. Pure. */

/** The fields whose value is another than it was first. */
export function ownEdits<Fields extends object>(first: Fields, now: Fields): Partial<Fields> {
  const entries = Object.entries(now).filter(
    ([field, value]) => !isAlike(value, first[field as keyof Fields]),
  )
  return Object.fromEntries(entries) as Partial<Fields>
}

function isAlike(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
