/** Finds the key or gate that a typed text means. Pure. */

export interface Subject {
  readonly id: string
  /** As the list shows it. */
  readonly label: string
}

export interface FoundSubject {
  /** Undefined: none is meant, or several may be. */
  readonly subject: Subject | undefined
  /** How many the text may mean. */
  readonly matches: number
}

/** The whole id or label, or a part that only one of them has. */
export function findSubject(subjects: readonly Subject[], text: string): FoundSubject {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return { subject: undefined, matches: subjects.length }
  const whole = subjects.filter(
    ({ id, label }) => id.toLowerCase() === wanted || label.toLowerCase() === wanted,
  )
  const found =
    whole.length > 0
      ? whole
      : subjects.filter(({ id, label }) => `${id} ${label}`.toLowerCase().includes(wanted))
  return { subject: found.length === 1 ? found[0] : undefined, matches: found.length }
}
