/**
 * TypeScript as a syntax tree over bytes, and the walk through what of it runs. Knows nothing of
 * mutants.
 */
import { type Expression, parseSync, type Statement } from '@swc/core'

export type SyntaxNode = Expression | Statement

/** In bytes of the source, from 0. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

interface Spanned {
  readonly span: { readonly start: number; readonly end: number }
}

export class SourceText {
  readonly #bytes: Buffer
  readonly #base: number
  readonly #body: unknown

  /** @throws when it is not TypeScript */
  constructor(text: string) {
    this.#bytes = Buffer.from(text)
    // The parser counts on from what it parsed before, and from the first token: one is put at 0.
    const program = parseSync(`;${text}`, { syntax: 'typescript', target: 'esnext' })
    this.#base = program.span.start + 1
    this.#body = program.body
  }

  /** @throws for the only nodes that have no place: those of JSX */
  rangeOf(node: object): ByteRange {
    if (!isSpanned(node)) throw new Error('a node without a place in the text')
    const { span } = node
    return { from: span.start - this.#base, to: span.end - this.#base }
  }

  textOf(node: object): string {
    return this.slice(this.rangeOf(node))
  }

  slice({ from, to }: ByteRange): string {
    return this.#bytes.subarray(from, to).toString()
  }

  /**
   * Where an operator stands between its operands; a comment there may hold the same characters.
   */
  operatorBetween(left: object, right: object, operator: string): ByteRange | undefined {
    const from = this.rangeOf(left).to
    const between = this.slice({ from, to: this.rangeOf(right).from })
    const blank = (comment: string) => ' '.repeat(Buffer.byteLength(comment))
    const at = between.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, blank).indexOf(operator)
    return at < 0 ? undefined : { from: from + at, to: from + at + operator.length }
  }

  /** From 1, the column in characters. */
  placeOf(offset: number): {
    readonly line: number
    readonly column: number
    readonly lineText: string
  } {
    const before = this.#bytes.subarray(0, offset).toString()
    const lineStart = before.lastIndexOf('\n') + 1
    const rest = this.#bytes.subarray(offset).toString()
    const restOfLine = rest.slice(0, rest.search(/\n|$/))
    return {
      line: before.split('\n').length,
      column: before.length - lineStart + 1,
      lineText: (before.slice(lineStart) + restOfLine).trim(),
    }
  }

  /** Every node that runs, outer ones first, with all that it is in: no types, no imports. */
  walk(visit: (node: SyntaxNode, ancestors: readonly object[]) => void): void {
    const ancestors: object[] = []
    const step = (value: unknown): void => {
      if (Array.isArray(value)) {
        for (const item of value) step(item)
        return
      }
      if (typeof value !== 'object' || value === null || isLeftOut(value)) return
      if (isNode(value)) visit(value, ancestors)
      ancestors.push(value)
      for (const [key, child] of Object.entries(value)) if (key !== 'span') step(child)
      ancestors.pop()
    }
    step(this.#body)
  }
}

export function isSpanned(value: unknown): value is Spanned {
  return typeof value === 'object' && value !== null && 'span' in value
}

function isNode(value: object): value is SyntaxNode {
  return 'type' in value && isSpanned(value)
}

const IMPORTING = new Set(['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration'])
/** Type syntax around an expression that runs. */
const AROUND_EXPRESSIONS = new Set([
  'TsAsExpression',
  'TsConstAssertion',
  'TsInstantiation',
  'TsNonNullExpression',
  'TsParameterProperty',
  'TsSatisfiesExpression',
  'TsTypeAssertion',
])

function isLeftOut(value: object): boolean {
  if (!('type' in value) || typeof value.type !== 'string') return false
  return (
    IMPORTING.has(value.type) ||
    (value.type.startsWith('Ts') && !AROUND_EXPRESSIONS.has(value.type))
  )
}

export function replaceBytes(text: string, { from, to }: ByteRange, replacement: string): string {
  const bytes = Buffer.from(text)
  return bytes.subarray(0, from).toString() + replacement + bytes.subarray(to).toString()
}

export function isTypeScript(text: string): boolean {
  try {
    parseSync(text, { syntax: 'typescript', target: 'esnext' })
    return true
  } catch {
    return false
  }
}
