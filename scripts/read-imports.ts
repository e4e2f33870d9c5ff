/** What a file of TypeScript or JavaScript imports, in every form. Knows no rules, reads no file. */
import {
  type CallExpression,
  type ExportAllDeclaration,
  type ExportNamedDeclaration,
  type Expression,
  type ImportDeclaration,
  parseSync,
  type TsExternalModuleReference,
  type TsImportType,
} from '@swc/core'

/** The parts of a file's tree that name another file. */
type Importing =
  | ImportDeclaration
  | ExportNamedDeclaration
  | ExportAllDeclaration
  | TsImportType
  | TsExternalModuleReference
  | CallExpression

/**
 * Of types too, of what is fetched later, and with `require`; not what is worked out as it runs.
 *
 * @param path its ending tells the language
 * @returns what is imported as it is written, each once
 * @throws Error when the text cannot be parsed
 */
export function readImports(path: string, text: string): string[] {
  const found = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('type' in node) {
      const imported = importedBy(node as Importing)
      if (imported !== undefined) found.add(imported)
    }
    for (const value of Object.values(node)) visit(value)
  }
  visit(parse(path, text))
  return [...found]
}

function parse(path: string, text: string): unknown {
  try {
    return parseSync(text, { syntax: 'typescript', tsx: path.endsWith('x'), target: 'esnext' })
  } catch (cause) {
    throw new Error(`${path} cannot be parsed`, { cause })
  }
}

function importedBy(node: Importing): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return node.source?.value
    case 'TsImportType':
      return node.argument.value
    case 'TsExternalModuleReference':
      return node.expression.value
    case 'CallExpression': {
      const { callee } = node
      const isImport =
        callee.type === 'Import' || (callee.type === 'Identifier' && callee.value === 'require')
      return isImport ? textOf(node.arguments[0]?.expression) : undefined
    }
  }
}

/** Of a text in quotes, or of a template without a hole. */
function textOf(expression: Expression | undefined): string | undefined {
  if (expression?.type === 'StringLiteral') return expression.value
  if (expression?.type !== 'TemplateLiteral' || expression.expressions.length > 0) return undefined
  return expression.quasis[0]?.cooked
}
