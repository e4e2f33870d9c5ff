import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { describeProblems, type FieldNotes } from '../contract/problems.ts'

export interface YamlFault {
  readonly line: number
  readonly message: string
}

export type YamlPath = readonly PropertyKey[]

export interface YamlDocument {
  readonly value: unknown
  lineOf(path: YamlPath): number
}

export function readYaml(text: string): YamlDocument | readonly YamlFault[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const syntax = [...document.errors, ...document.warnings].map(({ code, pos }) => ({
    line: lines.linePos(pos[0]).line,
    message: `is not valid YAML here (${code.toLowerCase().replaceAll('_', ' ')})`,
  }))
  if (syntax.length > 0) return syntax
  try {
    return { value: document.toJS() as unknown, lineOf: (path) => lineAt(document, lines, path) }
  } catch {
    // The library refuses files with thousands of aliases that refer to aliases.
    return [{ line: 1, message: 'contains too many aliases' }]
  }
}

export function toYamlFaults(
  error: Pick<z.ZodError, 'issues'>,
  { value, lineOf, notes }: Pick<YamlDocument, 'value' | 'lineOf'> & { readonly notes: FieldNotes },
): YamlFault[] {
  return error.issues.flatMap((issue) => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : []
    return describeProblems([issue], value, notes).map(({ field, message }, index) => {
      const key = keys[index]
      return {
        line: lineOf(key === undefined ? issue.path : [...issue.path, key]),
        message: `${field === 'body' ? 'the file' : field} ${message}`,
      }
    })
  })
}

function lineAt(document: Document, lines: LineCounter, path: YamlPath): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const last = path[depth - 1]
    const holder = document.getIn(path.slice(0, depth - 1), true)
    const key = isMap(holder)
      ? holder.items.find((pair) => String(pair.key) === last)?.key
      : undefined
    const node = isNode(key) ? key : document.getIn(path.slice(0, depth), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}
