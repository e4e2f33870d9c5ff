/**
 * Names of a request's members for its caller: each once, and bounded however many a request has.
 */

const MAX_NAMES = 32
const MAX_NAME_LENGTH = 96

export class NameList {
  readonly #names = new Set<string>()

  /** True after the last name that is shown: nothing that is added later is kept. */
  get isFull(): boolean {
    // One more than is shown says that there are more.
    return this.#names.size > MAX_NAMES
  }

  /**
   * @param path of a member; of lists, all elements share one: `messages[2].content` is `messages[].content`
   * @returns true where the name is new
   */
  add(path: string): boolean {
    if (this.isFull || this.#names.has(path)) return false
    const size = this.#names.size
    this.#names.add(shorten(path.replace(INDEX, '[]')))
    return this.#names.size > size
  }

  /** Adds an object that its dialect tells by its type: `tools[].type=web_search`. */
  addKind(path: string, type: string): void {
    this.add(`${path}.type=${type}`)
  }

  toArray(): string[] {
    return [...this.#names]
  }
}

const INDEX = /\[\d+\]/g

/** A copy: a part of a long text would keep the whole of it in memory. */
function shorten(name: string): string {
  return name.length <= MAX_NAME_LENGTH
    ? name
    : Buffer.from(name.slice(0, MAX_NAME_LENGTH)).toString()
}

/** Names as the caller reads them, with `and-more` where there are too many. */
export function showNames(
  names: readonly string[],
  { maxLength, toText }: { readonly maxLength: number; readonly toText: (name: string) => string },
): string {
  let shown = ''
  for (const [index, name] of names.entries()) {
    const next = `${index === 0 ? '' : ', '}${toText(name.slice(0, MAX_NAME_LENGTH))}`
    if (index === MAX_NAMES || shown.length + next.length + MORE.length > maxLength)
      return `${shown}${MORE}`
    shown += next
  }
  return shown
}

const MORE = ', and-more'

/** Any other character would break a header or a list of names. */
const PLAIN = /^[\x21-\x2b\x2d-\x7e]*$/

/** Percent-encoded where a header could not hold it. */
export function encodeName(text: string): string {
  if (PLAIN.test(text)) return text
  return text.toWellFormed().replace(/[^\x21-\x2b\x2d-\x7e]/gu, encodeURIComponent)
}
