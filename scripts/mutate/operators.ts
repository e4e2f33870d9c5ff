/**
 * The small faults that are planted: each operator is shown a node and says how it could be wrong.
 * Knows nothing of files.
 *
 * None of them makes a change that cannot matter: those would only have to be listed as survivors.
 */
import type { Expression, Statement } from '@swc/core'
import { type ByteRange, isSpanned, type SourceText, type SyntaxNode } from './syntax.ts'

export type OperatorName =
  | 'comparison'
  | 'logic'
  | 'negated condition'
  | 'arithmetic'
  | 'number'
  | 'boolean'
  | 'empty string'
  | 'fallback only'
  | 'method'
  | 'return undefined'
  | 'call removed'
  | 'assignment removed'
  | 'if body removed'
  | 'await removed'
  | 'jump removed'

export interface Edit {
  readonly operator: OperatorName
  /** Replaced. */
  readonly range: ByteRange
  readonly replacement: string
  /** What a reader is shown, before and after. */
  readonly shown: ByteRange
}

interface Site {
  readonly source: SourceText
  readonly node: SyntaxNode
  /** Outermost first. Some have no type: an argument and the function of a method. */
  readonly ancestors: readonly object[]
}

export function editsOf(site: Site): readonly Edit[] {
  return OPERATORS.flatMap((operator) => operator(site))
}

const COMPARISONS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
}
const LOGIC: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' }
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' }
const ASSIGNMENTS: Readonly<Record<string, string>> = {
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '/=': '*=',
}
const UPDATES: Readonly<Record<string, string>> = { '++': '--', '--': '++' }
const METHODS: Readonly<Record<string, string>> = {
  shift: 'pop',
  pop: 'shift',
  push: 'unshift',
  unshift: 'push',
  every: 'some',
  some: 'every',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  floor: 'ceil',
  ceil: 'floor',
}
/** A greater number is a size or a time: nobody notices one more. */
const LARGEST_COUNT = 100

const OPERATORS: readonly ((site: Site) => Edit[])[] = [
  swapOperator,
  negateCondition,
  changeNumber,
  flipBoolean,
  emptyString,
  swapMethod,
  returnUndefined,
  removeStatement,
  removeIfBody,
  removeAwait,
]

function swapOperator({ source, node }: Site): Edit[] {
  if (node.type === 'UpdateExpression') {
    const whole = source.rangeOf(node)
    const range = node.prefix
      ? { from: whole.from, to: whole.from + 2 }
      : { from: whole.to - 2, to: whole.to }
    return [
      { operator: 'arithmetic', range, replacement: UPDATES[node.operator] ?? '', shown: whole },
    ]
  }
  if (node.type !== 'BinaryExpression' && node.type !== 'AssignmentExpression') return []
  const shown = source.rangeOf(node)
  const between = source.operatorBetween(node.left, node.right, node.operator)
  if (between === undefined) return []
  const swap = (operator: OperatorName, replacement: string | undefined): Edit[] =>
    replacement === undefined ? [] : [{ operator, range: between, replacement, shown }]
  if (node.type === 'AssignmentExpression')
    return isText(node.right) ? [] : swap('arithmetic', ASSIGNMENTS[node.operator])
  if (node.operator === '??') {
    if (isUndefined(node.right)) return []
    return [
      { operator: 'fallback only', range: shown, replacement: source.textOf(node.right), shown },
    ]
  }
  return [
    ...swap('comparison', COMPARISONS[node.operator]),
    ...swap('logic', LOGIC[node.operator]),
    ...(isText(node) ? [] : swap('arithmetic', ARITHMETIC[node.operator])),
  ]
}

/** Where something is only put together as text, `-` would be a fault that types forbid. */
function isText(node: Expression): boolean {
  if (node.type === 'BinaryExpression')
    return node.operator === '+' && (isText(node.left) || isText(node.right))
  return node.type === 'StringLiteral' || node.type === 'TemplateLiteral'
}

function negateCondition({ source, node }: Site): Edit[] {
  if (
    node.type !== 'IfStatement' &&
    node.type !== 'ConditionalExpression' &&
    node.type !== 'WhileStatement'
  )
    return []
  const { test } = node
  // The swapped comparison is the same fault.
  if (test.type === 'BinaryExpression' && /^[!=]==?$/.test(test.operator)) return []
  const range = source.rangeOf(test)
  const isNegation = test.type === 'UnaryExpression' && test.operator === '!'
  const replacement = isNegation ? source.textOf(test.argument) : `!(${source.textOf(test)})`
  return [{ operator: 'negated condition', range, replacement, shown: range }]
}

function changeNumber({ source, node, ancestors }: Site): Edit[] {
  if (node.type !== 'NumericLiteral' || isKey(node, ancestors)) return []
  const { value } = node
  const range = source.rangeOf(node)
  const change = (to: number): Edit => ({
    operator: 'number',
    range,
    replacement: String(to),
    shown: range,
  })
  if (value > LARGEST_COUNT) return [change(0)]
  return value === 0 ? [change(1)] : [change(value + 1), change(value - 1)]
}

function flipBoolean({ source, node }: Site): Edit[] {
  if (node.type !== 'BooleanLiteral') return []
  const range = source.rangeOf(node)
  return [{ operator: 'boolean', range, replacement: String(!node.value), shown: range }]
}

function emptyString({ source, node, ancestors }: Site): Edit[] {
  if (node.type !== 'StringLiteral' || isKey(node, ancestors)) return []
  // Sentences are for people.
  if (node.value === '' || /\s/.test(node.value) || isMessage(ancestors)) return []
  const range = source.rangeOf(node)
  return [{ operator: 'empty string', range, replacement: "''", shown: range }]
}

function swapMethod({ source, node }: Site): Edit[] {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
  const { property } = node.callee
  const replacement = property.type === 'Identifier' ? METHODS[property.value] : undefined
  if (replacement === undefined) return []
  return [
    {
      operator: 'method',
      range: source.rangeOf(property),
      replacement,
      shown: source.rangeOf(node),
    },
  ]
}

function returnUndefined({ source, node, ancestors }: Site): Edit[] {
  if (node.type !== 'ReturnStatement' || node.argument === undefined || node.argument === null)
    return []
  const { argument } = node
  // A flipped boolean is the greater fault, and null is often asked for together with undefined.
  if (
    isUndefined(argument) ||
    argument.type === 'BooleanLiteral' ||
    argument.type === 'NullLiteral'
  )
    return []
  if (returnsNothing(source, ancestors)) return []
  return [
    {
      operator: 'return undefined',
      range: source.rangeOf(argument),
      replacement: 'undefined',
      shown: source.rangeOf(node),
    },
  ]
}

function removeStatement({ source, node, ancestors }: Site): Edit[] {
  const operator = removalOf(node)
  // The body of an if: removed with it.
  if (operator === undefined || isWholeIfBody(node, ancestors)) return []
  const range = source.rangeOf(node)
  return [{ operator, range, replacement: ';', shown: range }]
}

function removalOf(node: SyntaxNode): OperatorName | undefined {
  if (node.type === 'BreakStatement' || node.type === 'ContinueStatement') return 'jump removed'
  if (node.type !== 'ExpressionStatement') return undefined
  let { expression } = node
  if (expression.type === 'AssignmentExpression')
    return expression.left.type === 'MemberExpression' ? 'assignment removed' : undefined
  if (expression.type === 'AwaitExpression') expression = expression.argument
  if (expression.type === 'UnaryExpression' && expression.operator === 'void')
    expression = expression.argument
  if (expression.type === 'OptionalChainingExpression') return 'call removed'
  if (expression.type !== 'CallExpression' || expression.callee.type === 'Super') return undefined
  return 'call removed'
}

function removeIfBody({ source, node }: Site): Edit[] {
  if (node.type !== 'IfStatement') return []
  const { consequent } = node
  if (consequent.type === 'EmptyStatement') return []
  if (consequent.type === 'BlockStatement' && consequent.stmts.length === 0) return []
  const whole = source.rangeOf(node)
  const range = source.rangeOf(consequent)
  return [
    {
      operator: 'if body removed',
      range,
      replacement: '{}',
      shown: { from: whole.from, to: range.to },
    },
  ]
}

function removeAwait({ source, node, ancestors }: Site): Edit[] {
  if (node.type !== 'AwaitExpression') return []
  // Outside of try, an async function waits for what it returns anyway.
  const parent = typedParent(ancestors)
  if (parent !== undefined && isOfType(parent, 'ReturnStatement') && !isInTry(ancestors)) return []
  const range = source.rangeOf(node)
  return [
    { operator: 'await removed', range, replacement: source.textOf(node.argument), shown: range },
  ]
}

function isUndefined(node: Expression): boolean {
  return node.type === 'Identifier' && node.value === 'undefined'
}

function isOfType(value: object, type: string): boolean {
  return 'type' in value && value.type === type
}

function typedParent(ancestors: readonly object[]): object | undefined {
  return ancestors.findLast((ancestor) => 'type' in ancestor)
}

/** The name of a property, which is checked by types. */
function isKey(node: Expression, ancestors: readonly object[]): boolean {
  const parent = ancestors.at(-1)
  return parent !== undefined && 'key' in parent && parent.key === node
}

/** `new Error('…')` of the language: a failure's kind is told by other classes. */
function isMessage(ancestors: readonly object[]): boolean {
  const parent = typedParent(ancestors)
  if (parent === undefined || !isOfType(parent, 'NewExpression') || !('callee' in parent))
    return false
  const { callee } = parent
  if (typeof callee !== 'object' || callee === null || !('value' in callee)) return false
  return /^(Type|Range|Syntax)?Error$/.test(String(callee.value))
}

function isWholeIfBody(node: Statement | Expression, ancestors: readonly object[]): boolean {
  const isBodyOf = (parent: object | undefined, body: object) =>
    parent !== undefined && 'consequent' in parent && parent.consequent === body
  const parent = ancestors.at(-1)
  if (isBodyOf(parent, node)) return isOfType(parent ?? {}, 'IfStatement')
  const block = parent
  if (block === undefined || !('stmts' in block) || !Array.isArray(block.stmts)) return false
  return block.stmts.length === 1 && isBodyOf(ancestors.at(-2), block)
}

/** What is between a node and the function that it is in, and that function at the end. */
function upToFunction(ancestors: readonly object[]): readonly object[] {
  const at = ancestors.findLastIndex(
    (ancestor) =>
      'body' in ancestor &&
      ('params' in ancestor ||
        isOfType(ancestor, 'GetterProperty') ||
        isOfType(ancestor, 'SetterProperty')),
  )
  return at < 0 ? ancestors.toReversed() : ancestors.slice(at).toReversed()
}

function isInTry(ancestors: readonly object[]): boolean {
  return upToFunction(ancestors).some((ancestor) => isOfType(ancestor, 'TryStatement'))
}

/** Declared as `void` or `Promise<void>`: then it makes no difference what is returned. */
function returnsNothing(source: SourceText, ancestors: readonly object[]): boolean {
  const inside = upToFunction(ancestors).at(-1)
  if (inside === undefined || !('returnType' in inside)) return false
  const { returnType } = inside
  if (typeof returnType !== 'object' || returnType === null || !('typeAnnotation' in returnType))
    return false
  const declared = returnType.typeAnnotation
  return isSpanned(declared) && /^(void|Promise<void>)$/.test(source.textOf(declared))
}
