/**
 * Models that a request names besides its target's, for providers that fall back to another model.
 * Must not know any price, nor a provider by name.
 */
import type { JsonObject } from '../wire/json-splice.ts'
import { isRecord } from '../wire/read-json.ts'
import { askingMember } from '../wire/request-fields.ts'

export interface NamedModels {
  readonly member: string
  /** `SOME_MODEL` when the request leaves the choice to the provider. */
  readonly models: readonly string[]
}

/**
 * Not a real model's name: stands for a model that the provider chooses, which no price table
 * lists.
 */
export const SOME_MODEL = '(some model)'

/** More than any provider accepts. */
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
 * An entry of a list is a name, or an object with one; another speed counts as another name,
 * because its price differs.
 */
function nameOf(entry: unknown): string {
  if (typeof entry === 'string') return entry
  if (!isRecord(entry) || typeof entry.model !== 'string') return SOME_MODEL
  const { speed = null, model } = entry
  return speed === null || speed === 'standard' ? model : SOME_MODEL
}
