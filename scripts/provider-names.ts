/** Finds providers' names in source text. */
import { parseSync } from '@swc/core'

export interface NameFinding {
  readonly line: number
  readonly provider: string
  readonly text: string
}

export interface NameRule {
  readonly providers: readonly string[]
  /** Dialects are named after their vendor (`mistral-fim`), and may be named anywhere. */
  readonly dialects: readonly string[]
  /**
   * False in the dialects' own folders, where identifiers and paths may shorten a dialect's name.
   */
  readonly identifiersAndImports: boolean
}

/** On the same line or the line before: an exception, with its reason. */
const EXCEPTION = /provider-name-ok: \S+/

/**
 * Checks literals and identifiers only: comments and prose (a literal with a space) may name
 * providers, because neither can branch.
 * @throws the parser's errors for invalid TypeScript
 */
export function findProviderNames(source: string, rule: NameRule): NameFinding[] {
  const findings: NameFinding[] = []
  const bytes = Buffer.from(source)
  const lines = source.split('\n')
  const dialectPatterns = rule.dialects.map(
    (dialect) => new RegExp(dialect.split('-').join('[-_ ]?'), 'gi'),
  )

  for (const { text, offset, kind } of namesIn(source)) {
    const literal = kind === 'literal'
    if (!literal && !rule.identifiersAndImports) continue
    if (literal && /\s/.test(text)) continue
    const rest = dialectPatterns.reduce(
      (remaining, pattern) => remaining.replace(pattern, ' '),
      text,
    )
    const words = wordsOf(rest)
    for (const provider of rule.providers) {
      if (!words.includes(provider)) continue
      const line = bytes.subarray(0, offset).toString().split('\n').length
      if (EXCEPTION.test(`${lines[line - 2] ?? ''}\n${lines[line - 1] ?? ''}`)) continue
      findings.push({ line, provider, text })
    }
  }
  return findings
}

interface Name {
  readonly text: string
  readonly offset: number
  readonly kind: 'literal' | 'identifier' | 'import'
}

function namesIn(source: string): Name[] {
  // The parser's positions count from the first token, so a token is put at the beginning.
  const program = parseSync(`;${source.replace(/^#!/, '//')}`, {
    syntax: 'typescript',
    tsx: false,
    target: 'esnext',
  })
  const base = program.span.start + 1
  const names: Name[] = []

  const visit = (node: unknown, parent: string): void => {
    if (Array.isArray(node)) {
      for (const item of node) visit(item, parent)
      return
    }
    if (!isNode(node)) {
      // An argument is wrapped in an object without a type.
      if (typeof node === 'object' && node !== null)
        for (const item of Object.values(node)) visit(item, parent)
      return
    }
    const offset = node.span.start - base
    if (node.type === 'StringLiteral' && typeof node.value === 'string') {
      names.push({ text: node.value, offset, kind: IMPORTS.has(parent) ? 'import' : 'literal' })
    } else if (node.type === 'TemplateElement' && typeof node.raw === 'string') {
      names.push({ text: node.raw, offset, kind: 'literal' })
    } else if (node.type === 'Identifier' && typeof node.value === 'string') {
      names.push({ text: node.value, offset, kind: 'identifier' })
    }
    for (const [key, child] of Object.entries(node)) if (key !== 'span') visit(child, node.type)
  }
  visit(program.body, 'Module')
  return names
}

const IMPORTS = new Set(['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration'])

interface SyntaxNode {
  readonly type: string
  readonly span: { readonly start: number }
  readonly value?: unknown
  readonly raw?: unknown
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'span' in value
}

/** `openAIKey`, `OPENAI_API_KEY` and `api.openai.com` all contain the word `openai`. */
function wordsOf(text: string): string[] {
  const spaced = text.replaceAll(/[Oo]penAI/g, ' openai ').replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
  return spaced.toLowerCase().split(/[^a-z0-9]+/)
}
