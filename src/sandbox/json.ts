/** Reads untyped JSON safely. */

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}

export function wordSet(...words: readonly string[]): ReadonlySet<string> {
  return new Set(words.flatMap((line) => line.split(' ')))
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A message's content is a string or an array of parts; every part with text counts. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  return joinTexts(objectsOf(content).map((part) => stringOf(part.text) || stringOf(part.refusal)))
}

export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n')
}
