/** Reads JSON Schemas of requests, so each vendor's checks can name the wrong place. */
import { isObject, type JsonObject, objectOf } from './json.ts'

const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const MAPS = ['properties', '$defs', 'definitions']

interface Place {
  readonly schema: JsonObject
  /** Member names from the root, such as `properties`, `city`. */
  readonly path: readonly (string | number)[]
}

/** The schema and all schemas within it, outermost first. */
export function* walkSchema(
  schema: unknown,
  path: readonly (string | number)[] = [],
): Generator<Place> {
  if (!isObject(schema)) return
  yield { schema, path }
  for (const name of MAPS)
    for (const [key, each] of Object.entries(objectOf(schema[name])))
      yield* walkSchema(each, [...path, name, key])
  for (const name of LISTS)
    for (const [index, each] of (Array.isArray(schema[name]) ? schema[name] : []).entries())
      yield* walkSchema(each, [...path, name, index])
  for (const name of ['items', 'additionalProperties'])
    yield* walkSchema(schema[name], [...path, name])
}

export function hasRootCombinator(schema: JsonObject): boolean {
  return [schema.oneOf, schema.anyOf, schema.allOf].some((list) => list !== undefined)
}
