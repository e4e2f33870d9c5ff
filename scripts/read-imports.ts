/** What a TypeScript or JavaScript file imports, in every form. */
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

type Importing =
  | ImportDeclaration
  | ExportNamedDeclaration
  | ExportAllDeclaration
  | TsImportType
  | TsExternalModuleReference
  | CallExpression

/**
 * Includes type imports, `import()` and `require`, but no computed names.
 * @param path its extension decides the language
 * @returns each imported name once, as written
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

function textOf(expression: Expression | undefined): string | undefined {
  if (expression?.type === 'StringLiteral') return expression.value
  if (expression?.type !== 'TemplateLiteral' || expression.expressions.length > 0) return undefined
  return expression.quasis[0]?.cooked
}
