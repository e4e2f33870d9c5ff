/** Texts that many rows have in common, kept once: a database gives each row texts of its own. */

export type TextSharing = <Text extends string | null>(text: Text) => Text

/**
 * @returns the first text that was equal; for the time in which many rows are read, since it
 * forgets none
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
