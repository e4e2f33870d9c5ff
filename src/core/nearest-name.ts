/** Suggests the known name that an unknown name probably means. */

const MOST_TYPOS = 3
/** Maximum number of names that are compared, so that a refusal takes little time. */
const COMPARED_NAMES = 200
const LONGEST_COMPARED = 64
/** The minimum length at which the beginning of a name identifies the name. */
const FEWEST_LETTERS = 3

export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name === '' || name.length > LONGEST_COMPARED) return undefined
  const wanted = name.toLowerCase()
  const most = Math.min(MOST_TYPOS, Math.floor(wanted.length / 2))
  let nearest: string | undefined
  let fewest = most + 1
  let compared = 0
  for (const candidate of known) {
    compared += 1
    if (compared > COMPARED_NAMES) break
    const typos = distance(wanted, candidate.toLowerCase(), most)
    if (typos < fewest) {
      nearest = candidate
      fewest = typos
    }
  }
  return nearest
}

/** @returns ` Did you mean 'x'?`, to append to a sentence; empty when no name is near */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : ` Did you mean '${nearest}'?`
}

/** Levenshtein distance; a name that continues the other has a distance of at most `most`. */
function distance(a: string, b: string, most: number): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length >= FEWEST_LETTERS && long.startsWith(short))
    return Math.min(most, long.length - short.length)
  if (long.length - short.length > most) return most + 1
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
