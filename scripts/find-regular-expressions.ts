/**
 * Finds every regular expression written in a source text, by its syntax tree. It must not judge
 * them.
 */
import { parseSync } from '@swc/core'

export interface FoundExpression {
  readonly source: string
  readonly flags: string
}

export interface FoundExpressions {
  readonly literals: readonly FoundExpression[]
  /** How many are made from text while the program runs. */
  readonly made: number
}

/** @throws errors of the parser when the text is not TypeScript. */
export function findRegularExpressions(text: string, isJsx = false): FoundExpressions {
  const program = parseSync(text.replace(/^#!/, '//'), {
    syntax: 'typescript',
    tsx: isJsx,
    target: 'esnext',
  })
  const literals: FoundExpression[] = []
  let made = 0
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('type' in node) {
      if (node.type === 'RegExpLiteral' && 'pattern' in node && 'flags' in node)
        literals.push({ source: String(node.pattern), flags: String(node.flags) })
      if ((node.type === 'NewExpression' || node.type === 'CallExpression') && 'callee' in node)
        made += isRegExp(node.callee) ? 1 : 0
    }
    for (const value of Object.values(node)) visit(value)
  }
  visit(program)
  return { literals, made }
}

function isRegExp(callee: unknown): boolean {
  return (
    typeof callee === 'object' && callee !== null && 'value' in callee && callee.value === 'RegExp'
  )
}
