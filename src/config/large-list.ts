/**
 * Reads a file with thousands of entries for models. The parser that knows lines takes 18 s and
 * 0.9 GB for 8 MB, the runtime's parser 0.7 s. So the runtime reads the list, in parts, and the
 * other parser reads the rest of the file and the entries whose lines are needed. A member that an
 * entry repeats is not noticed: the last one counts.
 */
import { readYaml, type YamlDocument, type YamlFault, type YamlPath } from './yaml-document.ts'

/** The lines of the list, counted from 0. */
interface Block {
  readonly start: number
  readonly end: number
  /** Where each entry begins. */
  readonly entries: readonly number[]
}

export interface ListPart {
  /** By the entry's index in the list. */
  readonly values: ReadonlyMap<number, unknown>
  readonly faults: readonly YamlFault[]
}

/** Characters. The parser that knows lines reads smaller files in half a second. */
const LARGE = 256 * 1024
/** Reading and checking so many takes some milliseconds. */
const ENTRIES_AT_A_TIME = 50
const MAX_LOOK_UPS = 500

export function isLarge(text: string): boolean {
  return text.length > LARGE
}

/** @returns as `readYaml`; the value's `models` may be a `LongList` */
export function readConfigurationYaml(text: string): YamlDocument | readonly YamlFault[] {
  return (isLarge(text) ? readLargeYaml(text) : undefined) ?? readYaml(text)
}

/** @returns undefined for a file of another form, such as a file without a long list of models */
function readLargeYaml(text: string): YamlDocument | readonly YamlFault[] | undefined {
  const lines = text.split('\n')
  const block = findBlock(lines)
  if (block === undefined) return undefined
  const { start, end } = block
  const rest = readYaml([...lines.slice(0, start), EMPTY_LIST, ...lines.slice(end)].join('\n'))
  const toLine = (line: number) => (line > start + 1 ? line + end - start - 1 : line)
  if (!('value' in rest)) return rest.map((fault) => ({ ...fault, line: toLine(fault.line) }))
  const models = new LongList(lines, block)
  return {
    value: { ...Object(rest.value), models },
    lineOf(path) {
      const [section, index, ...members] = path
      return section === 'models' && typeof index === 'number'
        ? models.lineOf(index, members)
        : toLine(rest.lineOf(path))
    },
  }
}

const EMPTY_LIST = 'models: []'

function findBlock(lines: readonly string[]): Block | undefined {
  const start = lines.findIndex((line) => /^models:\s*(?:#.*)?$/.test(line))
  if (start < 0 || lines.some((line) => /^(?:---|\.\.\.|%)/.test(line))) return undefined
  const after = lines.findIndex((line, at) => at > start && /^[^\s#-]/.test(line))
  const end = after < 0 ? lines.length : after
  const first = lines.findIndex((line, at) => at > start && at < end && /^ *- /.test(line))
  const dash = /^ *- /.exec(lines[first] ?? '')?.[0]
  if (dash === undefined) return undefined
  const entries: number[] = []
  for (let at = first; at < end; at += 1) if (lines[at]?.startsWith(dash) === true) entries.push(at)
  return { start, end, entries }
}

/** The entries of a long list, read in parts so that callers can let other work run in between. */
export class LongList {
  readonly #lines: readonly string[]
  readonly #block: Block
  #lookUps = 0

  constructor(lines: readonly string[], block: Block) {
    this.#lines = lines
    this.#block = block
  }

  get length(): number {
    return this.#block.entries.length
  }

  *parts(): Generator<ListPart> {
    const size = this.#hasAnchors() ? this.length : ENTRIES_AT_A_TIME
    for (let first = 0; first < this.length; first += size)
      yield this.#read(first, Math.min(this.length, first + size))
  }

  /** Starting at 1. After many look-ups, which each parse an entry, the entry's first line. */
  lineOf(index: number, members: YamlPath): number {
    const before = this.#block.entries[index] ?? this.#block.start
    this.#lookUps += 1
    if (members.length === 0 || this.#lookUps > MAX_LOOK_UPS) return before + 1
    const entry = readYaml(this.#textOf(index, index + 1))
    return before + ('value' in entry ? entry.lineOf([0, ...members]) : 1)
  }

  #read(first: number, end: number): ListPart {
    const list = parseList(this.#textOf(first, end))
    if (list?.length === end - first)
      return { values: new Map(list.map((value, at) => [first + at, value])), faults: [] }
    const values = new Map<number, unknown>()
    const faults: YamlFault[] = []
    for (let index = first; index < end; index += 1) {
      const text = this.#textOf(index, index + 1)
      const alone = parseList(text)
      if (alone?.length === 1) values.set(index, alone[0])
      else faults.push(...this.#faultsOf(text, index))
    }
    return { values, faults }
  }

  #faultsOf(text: string, index: number): readonly YamlFault[] {
    const before = this.#block.entries[index] ?? 0
    const read = readYaml(text)
    return 'value' in read
      ? [{ line: before + 1, message: `models[${index}] is not valid YAML` }]
      : read.map(({ line, message }) => ({ line: before + line, message }))
  }

  /** An anchor is known only in the text that is parsed with it. */
  #hasAnchors(): boolean {
    const { start, end } = this.#block
    for (let at = start; at < end; at += 1)
      if (/[\s[{,]&[^\s&]/.test(this.#lines[at] ?? '')) return true
    return false
  }

  #textOf(first: number, end: number): string {
    const { entries, end: last } = this.#block
    return this.#lines.slice(entries[first], entries[end] ?? last).join('\n')
  }
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const list = Bun.YAML.parse(text)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}
