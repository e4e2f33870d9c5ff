/**
 * Sorts texts a part at a time: ten thousand at once hold the event loop for milliseconds. Knows
 * nothing of what they are.
 */

const TEXTS_PER_PART = 512

/** By code units. @param between awaited after each part and each joining of two */
export async function sortInTurns<Text extends string>(
  texts: readonly Text[],
  between: () => Promise<unknown>,
): Promise<readonly Text[]> {
  let parts: (readonly Text[])[] = []
  for (let start = 0; start < texts.length; start += TEXTS_PER_PART) {
    parts.push(texts.slice(start, start + TEXTS_PER_PART).sort())
    await between()
  }
  while (parts.length > 1) {
    const joined: (readonly Text[])[] = []
    for (let index = 0; index < parts.length; index += 2) {
      joined.push(join(parts[index] ?? [], parts[index + 1] ?? []))
      await between()
    }
    parts = joined
  }
  return parts[0] ?? []
}

function join<Text extends string>(left: readonly Text[], right: readonly Text[]): readonly Text[] {
  const joined: Text[] = []
  let [fromLeft, fromRight] = [0, 0]
  for (;;) {
    const [one, other] = [left[fromLeft], right[fromRight]]
    if (one === undefined) return joined.concat(right.slice(fromRight))
    if (other === undefined) return joined.concat(left.slice(fromLeft))
    if (one <= other) {
      joined.push(one)
      fromLeft += 1
    } else {
      joined.push(other)
      fromRight += 1
    }
  }
}
