/**
 * Reads a regular expression's own text and says where matching it may take time that grows faster
 * than the text: two repeats that can share the same characters, one after the other or one in the
 * other. It must not know where the expression stands or what it is for.
 */

/** A repeat with a smaller bound costs no more than that bound. */
const LARGEST_BOUND = 1_000
const MOST_SEQUENCES = 5_000

type Item =
  | { readonly kind: 'set'; readonly source: string; readonly min: number; readonly max: number }
  | {
      readonly kind: 'group'
      readonly alternatives: readonly Sequence[]
      readonly min: number
      readonly max: number
    }
  | { readonly kind: 'look'; readonly alternatives: readonly Sequence[] }
  | { readonly kind: 'start' }
  | { readonly kind: 'assertion' }
type Sequence = readonly Item[]

/** One step of a way through the expression. */
type Step =
  | {
      readonly kind: 'characters'
      readonly set: ReadonlySet<number>
      readonly isNeeded: boolean
      readonly isLoop: boolean
    }
  | { readonly kind: 'start' }
  | { readonly kind: 'assertion' }

/** Every Latin character and one of each kind that classes tell apart beyond them. */
const SAMPLES: readonly number[] = [
  ...Array.from({ length: 0x300 }, (_, code) => code),
  ...[0x2028, 0x3000, 0x4e2d, 0xfeff, 0x1f600],
]

export interface ShapeFinding {
  /** Why it may be slow. */
  readonly reason: string
}

/** @throws SyntaxError for what this does not read */
export function findSlowShapes(source: string, flags: string): readonly ShapeFinding[] {
  const shape = new Shape(source, flags)
  return [...new Set(shape.find())].map((reason) => ({ reason }))
}

/** Texts that make each repeat of the expression run as far as it can and then fail. */
export function hostileTexts(source: string, flags: string, length: number): readonly string[] {
  return new Shape(source, flags).attack(length)
}

class Shape {
  readonly #flags: string
  readonly #alternatives: readonly Sequence[]
  readonly #sets = new Map<string, ReadonlySet<number>>()
  readonly #reasons: string[] = []
  readonly #isSticky: boolean

  constructor(source: string, flags: string) {
    this.#flags = flags.replaceAll(/[gyd]/g, '')
    this.#isSticky = flags.includes('y')
    this.#alternatives = new Reader(source).read()
  }

  find(): readonly string[] {
    for (const steps of this.#expand(this.#alternatives)) this.#check(steps)
    return this.#reasons
  }

  attack(length: number): readonly string[] {
    const texts = new Set<string>()
    for (const steps of this.#expand(this.#alternatives)) {
      let before = ''
      for (const step of steps) {
        if (step.kind !== 'characters') continue
        const sample = sampleOf(step.set)
        if (step.isLoop) {
          const repeated = sample.repeat(Math.ceil(length / Math.max(1, sample.length)))
          for (const end of ['', '\u0000', '\n', '!']) texts.add(before + repeated + end)
        }
        if (step.isNeeded) before += sample
      }
      // What an unanchored search begins again and again.
      if (before !== '') texts.add(`${before.repeat(Math.ceil(length / before.length))}\u0000`)
      if (texts.size > 40) break
    }
    texts.add(`${' '.repeat(length)}\u0000`)
    return [...texts]
  }

  /** Every way through, up to a bound. */
  #expand(alternatives: readonly Sequence[], isAnchored = false): Step[][] {
    return alternatives.flatMap((sequence) => {
      let ways: Step[][] = [[]]
      for (const item of sequence) {
        const tails = this.#stepsOf(item, ways, isAnchored)
        ways = ways.flatMap((way) => tails.map((tail) => [...way, ...tail]))
        if (ways.length > MOST_SEQUENCES)
          throw new SyntaxError('too many ways through the expression')
      }
      return ways
    })
  }

  /** @param isAnchored whether what stands before all of `before` is */
  #stepsOf(item: Item, before: readonly Step[][], isAnchored: boolean): Step[][] {
    if (item.kind === 'start') return [[item]]
    if (item.kind === 'assertion') return [[item]]
    if (item.kind === 'look') {
      const ahead = this.#expand(item.alternatives)
      const start: readonly Step[] = isAnchored ? [{ kind: 'start' }] : []
      for (const way of before) for (const tail of ahead) this.#check([...start, ...way, ...tail])
      return [[{ kind: 'assertion' }]]
    }
    if (item.max === 0) return [[]]
    const isLoop = item.max > LARGEST_BOUND
    if (item.kind === 'set') {
      const set = this.#setOf(item.source)
      return [[{ kind: 'characters', set, isNeeded: item.min > 0, isLoop }]]
    }
    const isInnerAnchored = isAnchored || before.every((way) => way[0]?.kind === 'start')
    const inner = this.#expand(item.alternatives, isInnerAnchored)
    if (isLoop) {
      this.#checkLoop(inner)
      const all = inner.flat().flatMap((step) => (step.kind === 'characters' ? [...step.set] : []))
      return [[{ kind: 'characters', set: new Set(all), isNeeded: item.min > 0, isLoop: true }]]
    }
    const repeated = item.max > 1 ? inner.map((way) => [...way, ...way]) : inner
    return item.min === 0 ? [[], ...repeated] : repeated
  }

  /** What stands in a repeat follows itself. */
  #checkLoop(inner: readonly Step[][]): void {
    for (const first of inner) {
      for (const second of inner)
        this.#check([{ kind: 'start' }, ...first, ...second, { kind: 'assertion' }])
      if (!first.some((step) => step.kind === 'characters' && step.isNeeded))
        this.#reasons.push('a repeat of what may be empty')
    }
    const starts = inner.map(
      (way) => way.find((step) => step.kind === 'characters') ?? { kind: 'assertion' as const },
    )
    for (const [index, first] of starts.entries()) {
      for (const second of starts.slice(index + 1)) {
        if (first.kind !== 'characters' || second.kind !== 'characters') continue
        if (overlap(first.set, second.set))
          this.#reasons.push('a repeat of alternatives that begin alike')
      }
    }
  }

  #check(steps: readonly Step[]): void {
    const isAnchored = this.#isSticky || steps[0]?.kind === 'start'
    // A search that is not anchored begins at every place: as if anything were repeated in front.
    const all: readonly Step[] = isAnchored
      ? steps
      : [{ kind: 'characters', set: new Set(SAMPLES), isNeeded: false, isLoop: true }, ...steps]
    for (const [index, first] of all.entries()) {
      if (first.kind !== 'characters' || !first.isLoop) continue
      for (let next = index + 1; next < all.length; next++) {
        const second = all[next]
        if (second?.kind !== 'characters' || !second.isLoop) continue
        if (!canFail(all.slice(next + 1))) continue
        const shared = new Set([...first.set].filter((code) => second.set.has(code)))
        const between = all.slice(index + 1, next)
        const passes = between.every(
          (step) => step.kind !== 'characters' || !step.isNeeded || overlap(step.set, shared),
        )
        if (shared.size > 0 && passes)
          this.#reasons.push(
            index === 0 && !isAnchored
              ? 'a repeat that is begun anew at every place of the text'
              : 'two repeats that can share the same characters',
          )
      }
    }
  }

  #setOf(source: string): ReadonlySet<number> {
    const known = this.#sets.get(source)
    if (known !== undefined) return known
    const one = new RegExp(`^(?:${source})$`, this.#flags)
    const set = new Set(SAMPLES.filter((code) => one.test(String.fromCodePoint(code))))
    this.#sets.set(source, set)
    return set
  }
}

function canFail(rest: readonly Step[]): boolean {
  return rest.some((step) => step.kind !== 'characters' || step.isNeeded)
}

function overlap(one: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  for (const code of one) if (other.has(code)) return true
  return false
}

/** A character that reads well where there is one. */
function sampleOf(set: ReadonlySet<number>): string {
  const [any] = set
  const readable = [...set].find((code) => code > 0x20 && code < 0x7f)
  const code = readable ?? any
  return code === undefined ? '' : String.fromCodePoint(code)
}

const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/
const ESCAPE =
  /^\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|k<[^>]*>|[\s\S])/

/** From text to its tree. */
class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  read(): readonly Sequence[] {
    const alternatives = this.#alternatives()
    if (this.#at < this.#source.length)
      throw new SyntaxError(`unread at ${this.#at}: ${this.#source}`)
    return alternatives
  }

  #alternatives(): Sequence[] {
    const all: Item[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++
        all.push([])
      } else all.at(-1)?.push(this.#item())
    }
    return all
  }

  #item(): Item {
    const rest = this.#source.slice(this.#at)
    if (rest[0] === '^' || rest[0] === '$') {
      this.#at++
      return rest[0] === '^' ? { kind: 'start' } : { kind: 'assertion' }
    }
    if (/^\\[bB]/.test(rest)) {
      this.#at += 2
      return { kind: 'assertion' }
    }
    if (rest[0] === '(') return this.#group(rest)
    const source =
      rest[0] === '[' ? classAt(rest) : rest[0] === '\\' ? ESCAPE.exec(rest)?.[0] : rest[0]
    if (source === undefined) throw new SyntaxError(`unread: ${rest}`)
    this.#at += source.length
    // A reference to what was matched before may be anything.
    const isReference = /^\\(?:[1-9]|k<)/.test(source)
    return { kind: 'set', source: isReference ? '[^]' : source, ...this.#times() }
  }

  #group(rest: string): Item {
    const [opening = '('] = /^\((?:\?(?::|<?[=!]|<[\w$]+>))?/.exec(rest) ?? []
    this.#at += opening.length
    const alternatives = this.#alternatives()
    if (this.#source[this.#at] !== ')') throw new SyntaxError(`an open group: ${this.#source}`)
    this.#at++
    if (/^\(\?<?[=!]/.test(opening)) return { kind: 'look', alternatives }
    return { kind: 'group', alternatives, ...this.#times() }
  }

  #times(): { readonly min: number; readonly max: number } {
    const found = QUANTIFIER.exec(this.#source.slice(this.#at))
    if (found === null) return { min: 1, max: 1 }
    this.#at += found[0].length
    const [text, from, comma, to] = found
    if (text.startsWith('*')) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (text.startsWith('+')) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (text.startsWith('?')) return { min: 0, max: 1 }
    const min = Number(from)
    return { min, max: comma === '' ? min : to === '' ? Number.POSITIVE_INFINITY : Number(to) }
  }
}

/** From its opening bracket to its closing one. */
function classAt(text: string): string {
  let at = 1
  while (at < text.length && text[at] !== ']') at += text[at] === '\\' ? 2 : 1
  return text.slice(0, at + 1)
}
