export interface FieldChange {
  readonly field: string
  /** Undefined for a created resource. */
  readonly before: string | undefined
  /** Undefined for a deleted resource. */
  readonly after: string | undefined
}

type Form = Readonly<Record<string, unknown>> | null

/** Changes with every save, so the field is not shown. */
const NOISE: ReadonlySet<string> = new Set(['updatedAt'])

export function listChanges(before: Form, after: Form): readonly FieldChange[] {
  const was = flatten(before)
  const is = flatten(after)
  const fields = [...new Set([...was.keys(), ...is.keys()])]
  return fields
    .map((field) => ({ field, before: was.get(field), after: is.get(field) }))
    .filter((change) => change.before !== change.after && !NOISE.has(change.field))
    .filter(
      (change) => (before !== null && after !== null) || !isEmpty(change.before ?? change.after),
    )
}

function isEmpty(text: string | undefined): boolean {
  return text === undefined || text === '""' || text === 'null' || text === '[]' || text === '{}'
}

function flatten(form: Form): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (place: string, value: unknown) => {
    if (
      Array.isArray(value) &&
      value.length > 0 &&
      value.some((each) => typeof each === 'object')
    ) {
      for (const [index, each] of value.entries()) visit(`${place}[${index}]`, each)
    } else if (
      typeof value === 'object' &&
      value !== null &&
      Object.keys(value).length > 0 &&
      !Array.isArray(value)
    ) {
      for (const [name, each] of Object.entries(value))
        visit(place === '' ? name : `${place}.${name}`, each)
    } else {
      found.set(place, write(value))
    }
  }
  if (form !== null) visit('', form)
  return found
}

function write(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
