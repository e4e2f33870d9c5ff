/** Steps that the decoders of callers' requests share. Knows no dialect. */
import type { CacheHint, JsonRecord, ResponseFormat, Tool } from './chat-request.ts'
import {
  type At,
  asRecord,
  asText,
  isRecord,
  member,
  optionalFlag,
  optionalRecord,
  optionalText,
  present,
} from './read-json.ts'

/** @param parameters the member that holds the schema of the tool's arguments */
export function decodeTool(tool: At<JsonRecord>, parameters = 'parameters'): Tool {
  return {
    name: asText(member(tool, 'name')),
    ...present({
      description: optionalText(member(tool, 'description')),
      parameters: optionalRecord(member(tool, parameters))?.value,
      strict: optionalFlag(member(tool, 'strict')),
    }),
  }
}

export function decodeSchemaFormat(format: At<JsonRecord>): ResponseFormat {
  return {
    type: 'json-schema',
    schema: asRecord(member(format, 'schema')).value,
    ...present({
      name: optionalText(member(format, 'name')),
      description: optionalText(member(format, 'description')),
      strict: optionalFlag(member(format, 'strict')),
    }),
  }
}

export function decodeCacheHint(part: At<JsonRecord>): { readonly cache?: CacheHint } {
  const hint = member(part, 'cache_control').value
  if (!isRecord(hint)) return {}
  return { cache: hint.ttl === '5m' || hint.ttl === '1h' ? { ttl: hint.ttl } : {} }
}
