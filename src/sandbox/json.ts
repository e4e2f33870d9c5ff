/** Reading untyped JSON without trusting it. Knows no dialect. */

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A message's content is a string or an array of parts; every part that carries text counts. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsOf(content)
    .map((part) => stringOf(part.text) || stringOf(part.refusal))
    .filter((text) => text !== '')
    .join('\n')
}
