/** Deduplicates the texts of many rows: a database returns a separate string for each row. */

export type TextSharing = <Text extends string | null>(text: Text) => Text

/**
 * @returns the first equal text. Use it only while many rows are read, because the map never
 * shrinks
 */
export function createTextSharing(): TextSharing {
  const known = new Map<string, string>()
  return <Text extends string | null>(text: Text): Text => {
    if (text === null) return text
    const first = known.get(text)
    if (first === undefined) known.set(text, text)
    return (first ?? text) as Text
  }
}
