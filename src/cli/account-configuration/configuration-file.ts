/**
 * Parses a configuration file into its entries, or reports every fault with its line, without
 * values that may be secrets.
 */
import { Document, visit } from 'yaml'
import { readYaml, toYamlFaults, type YamlFault } from '../../config/yaml-document.ts'
import {
  accountConfiguration,
  accountConfigurationNotes,
  CONFIGURATION_VERSION,
  type ConfigurationSection,
} from '../../contract/account-configuration.ts'
import { CliError } from '../cli-error.ts'
import type { JsonObject } from '../client.ts'
import { inOrder, KINDS, type Kind, toCompact, toComplete } from './kinds.ts'

export interface FileEntry {
  readonly entry: JsonObject
  lineOf(...path: readonly PropertyKey[]): number
  readonly place: string
  /** Members that the file leaves as they are. */
  readonly open: readonly string[]
}

export interface ConfigurationFile {
  readonly path: string
  readonly entries: ReadonlyMap<Kind, readonly FileEntry[]>
}

/**
 * @param path for messages
 * @throws CliError naming line and member of every fault
 */
export function readFile(path: string, text: string): ConfigurationFile {
  const document = readYaml(text)
  if (!('value' in document)) throw toFault(path, document)
  if (PROMISE_OF_END.test(text) && !END_LINE.test(text)) throw toFault(path, [cutOff(text)])
  const { value, lineOf } = document
  const parsed = accountConfiguration.safeParse(value ?? {})
  if (!parsed.success)
    throw toFault(
      path,
      toYamlFaults(parsed.error, { value: value ?? {}, lineOf, notes: accountConfigurationNotes }),
    )
  const sections: Partial<Record<ConfigurationSection, object | undefined>> = parsed.data
  const isGiven = (path: readonly (string | number)[]) => valueAt(value, path) !== undefined
  const entries = new Map<Kind, readonly FileEntry[]>()
  for (const kind of KINDS) {
    const { section } = kind
    const given = sections[section]
    if (given === undefined) continue
    const toFileEntry = (entry: unknown, ...at: readonly number[]): FileEntry => ({
      entry: toComplete(kind, entry),
      open: (kind.alwaysWritten ?? []).filter((member) => !isGiven([section, ...at, member])),
      place: [section, ...at.map((index) => `[${index}]`)].join(''),
      lineOf: (...path) => lineOf([section, ...at, ...path]),
    })
    entries.set(
      kind,
      Array.isArray(given)
        ? given.map((entry, index) => toFileEntry(entry, index))
        : [toFileEntry(given)],
    )
  }
  const file = { path, entries }
  const repeated = findRepeated(file)
  if (repeated.length > 0) throw toFault(path, repeated)
  return file
}

/** A list that is cut off between two lines is valid YAML. */
function cutOff(text: string): YamlFault {
  return {
    line: text.trimEnd().split('\n').length,
    message: `the line '${END}' is missing: is the file cut off? Restore the file, or add the line`,
  }
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, step) => (at as Readonly<Record<string | number, unknown>> | undefined)?.[step],
    value,
  )
}

/** An entry with a name chosen by the customer may appear once; two other entries may be equal. */
function findRepeated({ entries }: ConfigurationFile): YamlFault[] {
  return [...entries].flatMap(([kind, list]) => {
    const { namedBy } = kind
    if (namedBy === undefined) return []
    const first = new Map<unknown, number>()
    return list.flatMap(({ entry, lineOf, place }) => {
      const name = entry[namedBy]
      const line = lineOf(namedBy)
      const before = first.get(name)
      if (before === undefined) {
        first.set(name, line)
        return []
      }
      return [{ line, message: `${place}.${namedBy} is in this file already, in line ${before}` }]
    })
  })
}

export function toFault(path: string, faults: readonly YamlFault[]): CliError {
  const places = faults
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, message }) => `${path}:${line}: ${message}`)
  return new CliError(
    'failed',
    `The file is not valid, so nothing was changed.\n${places.join('\n')}`,
  )
}

/** The same text for every server, without a date. */
const HEADING = `# Gates and what belongs to them, for review in version control.
# Written by \`gatehouse config pull\`, compared by \`gatehouse config diff\`, applied by \`gatehouse config push\`.
# What is left out has its default; of a section that is left out nothing is changed. No secret belongs in this file.
# The last line says that the file is whole: without that line, the file is refused.
`
/** The last line of the heading. Files of earlier versions have neither this line nor the end. */
const PROMISE_OF_END = /^# The last line says that the file is whole/m
const END = '# End of the file'
const END_LINE = /^# End of the file *\r?$/m

/**
 * Formats the server's state as a configuration file. The same state always gives the same text.
 */
export function toFileText(
  entries: ReadonlyMap<Kind, readonly { readonly entry: JsonObject }[]>,
): string {
  const sections = [...entries].map(([kind, list]) => {
    const compact = inOrder(
      kind,
      list.map(({ entry }) => entry),
    ).map((entry) => toCompact(kind, entry))
    return toYaml({ [kind.section]: kind.isSingle === true ? compact[0] : compact })
  })
  return [HEADING, toYaml({ version: CONFIGURATION_VERSION }), ...sections, `${END}\n`].join('\n')
}

/** Long lines are not folded: a change of a word would change the lines after it. */
function toYaml(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    // A YAML block would lose spaces at either end.
    Scalar(_, node) {
      if (typeof node.value === 'string' && node.value !== node.value.trim())
        node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 })
}
