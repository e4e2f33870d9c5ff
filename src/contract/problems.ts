/** Describes in plain words why a schema refused a value, without the value itself. */
import type { z } from 'zod'

export interface Problem {
  readonly field: string
  readonly message: string
}

export type FieldNotes = Readonly<Record<string, string>>

type Issue = z.core.$ZodIssue

/** zod's own texts, which are replaced; every other message was written for this contract. */
const STANDARD_MESSAGE = /^(?:Invalid |Too (?:small|big)|Unrecognized key)/

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

/**
 * A problem per field, in the schema's order.
 * @param input the refused value
 */
export function describeProblems(
  issues: readonly Issue[],
  input: unknown,
  notes: FieldNotes = {},
): Problem[] {
  return issues.flatMap((issue) => {
    const field = toFieldName(issue.path)
    if (issue.code === 'unrecognized_keys' && STANDARD_MESSAGE.test(issue.message)) {
      return issue.keys.map((key) => {
        const place = toFieldName([...issue.path, key])
        const note = place.replaceAll(/\[\d+\]/g, '[]')
        return {
          field: place,
          message: Object.hasOwn(notes, note) ? `${notes[note]}` : 'is not a known field',
        }
      })
    }
    return [{ field: field === '' ? 'body' : field, message: describe(issue, input) }]
  })
}

function describe(issue: Issue, input: unknown): string {
  if (issue.code !== 'custom' && isAbsent(issue.path, input)) return 'is required'
  if (!STANDARD_MESSAGE.test(issue.message)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`
    case 'too_small':
      return `must ${toBound(issue.origin, 'at least', Number(issue.minimum))}`
    case 'too_big':
      return `must ${toBound(issue.origin, 'at most', Number(issue.maximum))}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    default:
      return 'is not valid'
  }
}

function toBound(origin: string, side: 'at least' | 'at most', bound: number): string {
  const plural = bound === 1 ? '' : 's'
  if (origin === 'string') return `have ${side} ${bound} character${plural}`
  if (origin === 'array') return `have ${side} ${bound} element${plural}`
  return `be ${side} ${bound}`
}

function isAbsent(path: readonly PropertyKey[], input: unknown): boolean {
  if (path.length === 0) return false
  let value = input
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return true
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value === undefined
}

function toFieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === 'number') return `${name}[${step}]`
    return name === '' ? String(step) : `${name}.${String(step)}`
  }, '')
}
