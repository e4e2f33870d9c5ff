/** Models that a request names besides its target's, for providers with their own fallback. */
import type { JsonObject } from '../wire/json-splice.ts'
import { isRecord } from '../wire/read-json.ts'
import { askingMember } from '../wire/request-fields.ts'

export interface NamedModels {
  readonly member: string
  readonly models: readonly string[]
}

/** Placeholder for a model that the provider chooses. No price table lists this name. */
export const SOME_MODEL = '(some model)'

const MAX_MODELS = 10

export function readNamedModels(
  body: JsonObject,
  members: readonly string[],
): readonly NamedModels[] {
  let named: NamedModels[] | undefined
  for (const name of members) {
    const member = askingMember(body, name)
    if (member === undefined) continue
    named ??= []
    named.push({ member: name, models: toModels(body.value(member)) })
  }
  return named ?? NONE
}

const NONE: readonly NamedModels[] = []
const UNKNOWN = [SOME_MODEL]

function toModels(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > MAX_MODELS) return UNKNOWN
  return value.map(nameOf)
}

/**
 * A list contains names, or objects with a name and a speed. A model costs more at another speed,
 * so the speed becomes part of the name.
 */
function nameOf(entry: unknown): string {
  if (typeof entry === 'string') return entry
  if (!isRecord(entry) || typeof entry.model !== 'string') return SOME_MODEL
  const { speed = null, model } = entry
  return speed === null || speed === 'standard' ? model : SOME_MODEL
}
