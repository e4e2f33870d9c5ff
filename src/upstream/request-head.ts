/**
 * The lines before a request's body. Those that all requests to one place share are checked once and
 * kept as bytes. Connects to nothing and knows no LLM.
 */

/** Names in lower case. */
type HeaderValues = Readonly<Record<string, string>>

/**
 * The headers that all requests to one place have in common. They may hold a credential: like one,
 * they cannot be printed, and they are given up with it.
 */
export class CommonHeaders {
  readonly #fixed: HeaderValues
  readonly #usual: HeaderValues
  readonly #fixedNames: ReadonlySet<string>
  #beginning: Beginning | undefined
  #usualLines: string | undefined

  /**
   * @param fixed those that count whatever a request says itself
   * @param usual those that count where it says nothing
   */
  constructor(fixed: HeaderValues, usual: HeaderValues = {}) {
    this.#fixed = fixed
    this.#usual = usual
    this.#fixedNames = new Set(Object.keys(fixed))
  }

  /** All headers of a request, for whoever has to see them before they are sent. */
  join(own: HeaderValues): Record<string, string> {
    return { ...this.#usual, ...own, ...this.#fixed }
  }

  /**
   * The first lines, of which requests share the bytes: never to be written over.
   * @param opening a request line and a host
   * @throws Error where a value is none that a header may have
   */
  begin(opening: string): Buffer {
    if (this.#beginning?.opening === opening) return this.#beginning.bytes
    const bytes = Buffer.from(opening + toLines(this.#fixed), 'latin1')
    this.#beginning = { opening, bytes }
    return bytes
  }

  /**
   * The lines that follow, in Latin-1, with the empty one at the end.
   * @throws Error where a value is none that a header may have
   */
  end(own: HeaderValues, bodyBytes: number): string {
    let lines = ''
    for (const name in own) if (!this.#fixedNames.has(name)) lines += toLine(name, own[name])
    lines += lines === '' ? this.#linesOfUsual() : this.#missingIn(own)
    return `${lines}content-length: ${bodyBytes}\r\n\r\n`
  }

  toJSON(): string {
    return REDACTED
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED
  }

  #linesOfUsual(): string {
    this.#usualLines ??= this.#missingIn({})
    return this.#usualLines
  }

  #missingIn(own: HeaderValues): string {
    let lines = ''
    for (const name in this.#usual)
      if (own[name] === undefined && !this.#fixedNames.has(name))
        lines += toLine(name, this.#usual[name])
    const agent = own[AGENT] ?? this.#fixed[AGENT] ?? this.#usual[AGENT]
    return agent === undefined ? lines + USER_AGENT : lines
  }
}

interface Beginning {
  readonly opening: string
  readonly bytes: Buffer
}

function toLines(headers: HeaderValues): string {
  let lines = ''
  for (const name in headers) lines += toLine(name, headers[name])
  return lines
}

/** @throws Error for a value that could hold a whole request of its own */
function toLine(name: string, value: string | undefined): string {
  // The first lines name the host; a signature may name it too.
  if (value === undefined || name === 'host') return ''
  if (NOT_IN_VALUES.test(value))
    throw new Error(`The header ${name} of a request has a value that no header can have.`)
  return `${name}: ${value}\r\n`
}

const AGENT = 'user-agent'
const REDACTED = '[headers]'
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
/** Some vendors' doors refuse whoever does not say what it is. */
const USER_AGENT = 'user-agent: gatehouse\r\naccept: */*\r\n'
