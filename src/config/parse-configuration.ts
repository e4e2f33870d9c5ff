/**
 * The configuration file's text → what it says, or the line of each fault in it. Loaded only where there is a file. No
 * message repeats a value of the file: one may be a key that somebody put there.
 */
import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { configuration, configurationNotes } from '../contract/configuration.ts'
import { describeProblems } from '../contract/problems.ts'
import type { PlansSection } from '../core/plan.ts'
import type { Provider } from '../providers/define.ts'
import { toProvider } from './configured-provider.ts'
import { SettingsError } from './environment.ts'

export interface ConfigurationText {
  readonly path: string
  readonly text: string
}

export interface Configuration {
  /** The operator's own. */
  readonly providers: readonly Provider[]
  /** Undefined: those that are built in. */
  readonly plans: PlansSection | undefined
}

interface Fault {
  readonly line: number
  readonly message: string
}

type Path = readonly PropertyKey[]

/**
 * @param known providers whose ids are taken
 * @throws SettingsError that names file, line and member of every fault
 */
export function parseConfiguration(file: ConfigurationText, known: readonly Provider[]): Configuration {
  const lines = new LineCounter()
  const document = parseDocument(file.text, { lineCounter: lines, prettyErrors: false })
  const syntax = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    line: lines.linePos(pos[0]).line,
    message: `is not valid YAML here (${code.toLowerCase().replaceAll('_', ' ')})`,
  }))
  if (syntax.length > 0) throw toError(file, syntax)
  // An empty file, or one of comments only, says nothing.
  const value: unknown = toValue(file, document) ?? {}
  const parsed = configuration.safeParse(value)
  const lineOf = (path: Path) => lineAt(document, lines, path)
  if (!parsed.success) throw toError(file, toFaults(parsed.error, value, lineOf))
  const taken = new Set(known.map((provider) => provider.id))
  const clashes = parsed.data.providers.flatMap(({ id }, index) =>
    taken.has(id)
      ? [
          {
            line: lineOf(['providers', index, 'id']),
            message: `providers[${index}].id must not be '${id}': Gatehouse has a provider of that name. Choose another, or set that one's address by its variable.`,
          },
        ]
      : [],
  )
  if (clashes.length > 0) throw toError(file, clashes)
  return { providers: parsed.data.providers.map(toProvider), plans: parsed.data.plans }
}

function toValue(file: ConfigurationText, document: Document): unknown {
  try {
    return document.toJS()
  } catch {
    // Aliases that refer to aliases, by the thousand.
    throw toError(file, [{ line: 1, message: 'holds more aliases than are allowed' }])
  }
}

function toFaults(error: z.ZodError, value: unknown, lineOf: (path: Path) => number): Fault[] {
  return error.issues.flatMap((issue) => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : []
    return describeProblems([issue], value, configurationNotes).map(({ field, message }, index) => {
      const key = keys[index]
      return {
        line: lineOf(key === undefined ? issue.path : [...issue.path, key]),
        message: `${field === 'body' ? 'the file' : field} ${message}`,
      }
    })
  })
}

/** The line of the member at this path, or of the nearest one that holds it. */
function lineAt(document: Document, lines: LineCounter, path: Path): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const last = path[depth - 1]
    const holder = document.getIn(path.slice(0, depth - 1), true)
    const key = isMap(holder) ? holder.items.find((pair) => String(pair.key) === last)?.key : undefined
    const node = isNode(key) ? key : document.getIn(path.slice(0, depth), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}

function toError({ path }: ConfigurationText, faults: readonly Fault[]): SettingsError {
  const places = faults.map(({ line, message }) => `${path}:${line}: ${message}`)
  return new SettingsError(
    `The configuration file is not valid, so nothing was started.\n${places.join('\n')}`,
  )
}
