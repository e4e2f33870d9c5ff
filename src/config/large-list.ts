/**
 * Reads a file with thousands of entries for models. The parser that knows lines takes 18 s and
 * 0.9 GB for 8 MB, the runtime's parser 0.4 s. So the runtime reads the list, and the other parser
 * reads the rest of the file and the entries whose lines are needed. A member that an entry repeats
 * is not noticed: the last one counts.
 */
import { readYaml, type YamlDocument, type YamlFault } from './yaml-document.ts'

/** The lines of the list, counted from 0. */
interface Block {
  readonly start: number
  readonly end: number
  /** Where each entry begins. */
  readonly entries: readonly number[]
}

/** Characters. The parser that knows lines reads smaller files in half a second. */
const LARGE = 256 * 1024

/** @returns as `readYaml` */
export function readConfigurationYaml(text: string): YamlDocument | readonly YamlFault[] {
  return (text.length > LARGE ? readLargeYaml(text) : undefined) ?? readYaml(text)
}

/** @returns undefined for a file of another form, such as a file without a long list of models */
function readLargeYaml(text: string): YamlDocument | readonly YamlFault[] | undefined {
  const lines = text.split('\n')
  const block = findBlock(lines)
  if (block === undefined) return undefined
  const { start, end, entries } = block
  const textOf = (index: number) =>
    lines.slice(entries[index], entries[index + 1] ?? end).join('\n')
  const models = parseList(lines.slice(start, end).join('\n'))
  if (models === undefined) {
    const faults = entries.flatMap((line, index) => faultsOf(textOf(index), line))
    return faults.length === 0 ? undefined : faults
  }
  if (models.length !== entries.length) return undefined
  const others = lines.map((line, at) => (at < start || at >= end ? line : ''))
  others[start] = 'models: []'
  const rest = readYaml(others.join('\n'))
  if (!('value' in rest)) return rest
  return {
    value: { ...Object(rest.value), models },
    lineOf(path) {
      const [section, index, ...members] = path
      if (section !== 'models' || typeof index !== 'number') return rest.lineOf(path)
      const first = (entries[index] ?? start) + 1
      const entry = readYaml(textOf(index))
      return 'value' in entry ? first - 1 + entry.lineOf([0, ...members]) : first
    },
  }
}

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

function parseList(block: string): readonly unknown[] | undefined {
  try {
    const { models } = Bun.YAML.parse(block) as { readonly models: unknown }
    return Array.isArray(models) ? models : undefined
  } catch {
    return undefined
  }
}

function faultsOf(entry: string, line: number): readonly YamlFault[] {
  try {
    Bun.YAML.parse(entry)
    return []
  } catch {
    const read = readYaml(entry)
    return 'value' in read ? [] : read.map((fault) => ({ ...fault, line: fault.line + line }))
  }
}
