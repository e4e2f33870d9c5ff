/** The members of the requests that a published SDK can send, read from its type declarations. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from '@swc/core'

interface Node {
  readonly type: string
  readonly [name: string]: unknown
}

interface Scope {
  readonly parent: Scope | undefined
  readonly file: string
  readonly names: Map<string, Declared>
}

interface Declared {
  readonly types: { readonly node: Node; readonly scope: Scope }[]
  inner: Scope | undefined
  readonly imported?: { readonly file: string; readonly name: string | undefined }
}

const WITHOUT_MEMBERS = new Set(['Date', 'Uint8Array', 'Blob', 'ReadableStream', 'Uploadable'])
const WRAPPERS = new Set(['Array', 'ReadonlyArray', 'Readonly', 'Partial', 'Omit', 'Pick'])

/**
 * The dotted paths of all members of a type. `*` stands for a name that the caller chooses.
 * @param file of the declarations, relative to `node_modules`
 */
export function listMembers(file: string, typeName: string): ReadonlySet<string> {
  const walk = new Walk()
  const { names } = openFile(join(MODULES, file))
  const declared = names.get(typeName)
  if (declared === undefined) throw new Error(`${file} declares no ${typeName}.`)
  walk.declared(declared, '')
  return walk.paths
}

const MODULES = join(import.meta.dir, '..', '..', 'node_modules')
const files = new Map<string, Scope>()

class Walk {
  readonly paths = new Set<string>()
  readonly #open = new Set<Node>()

  declared({ types }: Declared, path: string): void {
    for (const { node, scope } of types) this.type(node, scope, path)
  }

  type(node: Node | undefined | null, scope: Scope, path: string): void {
    if (node === undefined || node === null) return
    switch (node.type) {
      case 'TsInterfaceDeclaration':
        this.#once(node, () => {
          for (const each of listOf(node.extends)) this.#named(each, scope, path)
          this.#members(listOf((node.body as Node).body), scope, path)
        })
        break
      case 'TsTypeAliasDeclaration':
        this.#once(node, () => this.type(node.typeAnnotation as Node, scope, path))
        break
      case 'TsTypeLiteral':
        this.#members(listOf(node.members), scope, path)
        break
      case 'TsUnionType':
      case 'TsIntersectionType':
        for (const each of listOf(node.types)) this.type(each, scope, path)
        break
      case 'TsArrayType':
        this.type(node.elemType as Node, scope, path)
        break
      case 'TsParenthesizedType':
      case 'TsTypeOperator':
        this.type(node.typeAnnotation as Node, scope, path)
        break
      case 'TsTypeReference':
        this.#named(node, scope, path)
        break
      case 'TsKeywordType':
      case 'TsLiteralType':
        break
      default:
        throw new Error(`Types of the kind ${node.type} cannot be read (${scope.file}).`)
    }
  }

  #members(members: readonly Node[], scope: Scope, path: string): void {
    for (const member of members) {
      const annotation = (member.typeAnnotation as Node | null)?.typeAnnotation as Node | undefined
      if (member.type === 'TsIndexSignature') this.type(annotation, scope, `${path}*.`)
      if (member.type !== 'TsPropertySignature') continue
      const { value } = member.key as Node
      this.paths.add(`${path}${String(value)}`)
      this.type(annotation, scope, `${path}${String(value)}.`)
    }
  }

  #named(node: Node, scope: Scope, path: string): void {
    const name = nameOf((node.typeName ?? node.expression) as Node)
    const [first = ''] = name
    const given = listOf(((node.typeParams ?? node.typeArguments) as Node | null)?.params)
    const isPlain = name.length === 1
    if (isPlain && first === 'Record') this.type(given[1], scope, `${path}*.`)
    else if (isPlain && WRAPPERS.has(first)) this.type(given[0], scope, path)
    else if (!isPlain || !WITHOUT_MEMBERS.has(first)) this.declared(find(name, scope), path)
  }

  #once(node: Node, follow: () => void): void {
    if (this.#open.has(node))
      throw new Error(`The type ${nameOf(node.id as Node).join('.')} has itself inside.`)
    this.#open.add(node)
    follow()
    this.#open.delete(node)
  }
}

function nameOf(node: Node): readonly string[] {
  return node.type === 'TsQualifiedName' || node.type === 'MemberExpression'
    ? [
        ...nameOf((node.left ?? node.object) as Node),
        String(((node.right ?? node.property) as Node).value),
      ]
    : [String(node.value)]
}

function find([first = '', ...rest]: readonly string[], from: Scope): Declared {
  for (let scope: Scope | undefined = from; scope !== undefined; scope = scope.parent) {
    const declared = scope.names.get(first)
    if (declared === undefined) continue
    const [next, ...others] = rest
    const found = follow(declared)
    if (next === undefined) return found
    if (found.inner?.names.has(next) === true) return find([next, ...others], found.inner)
  }
  throw new Error(`The type ${[first, ...rest].join('.')} is not declared (${from.file}).`)
}

function follow(declared: Declared): Declared {
  if (declared.imported === undefined) return declared
  const { file, name } = declared.imported
  const scope = openFile(file)
  return name === undefined ? { types: [], inner: scope } : find([name], scope)
}

function openFile(path: string): Scope {
  const known = files.get(path)
  if (known !== undefined) return known
  const scope: Scope = { parent: undefined, file: path, names: new Map() }
  files.set(path, scope)
  const { body } = parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript' })
  declareAll(body as unknown as readonly Node[], scope)
  return scope
}

function declareAll(nodes: readonly Node[], scope: Scope): void {
  for (const node of nodes) {
    if (node.type === 'ImportDeclaration') declareImport(node, scope)
    else if (node.type === 'ExportDeclaration') declare(node.declaration as Node, scope)
    else declare(node, scope)
  }
}

function declare(node: Node, scope: Scope): void {
  if (node.type === 'TsModuleDeclaration') {
    const declared = entryOf(scope, String((node.id as Node).value))
    declared.inner ??= { parent: scope, file: scope.file, names: new Map() }
    declareAll(listOf((node.body as Node).body), declared.inner)
  } else if (node.type === 'TsInterfaceDeclaration' || node.type === 'TsTypeAliasDeclaration')
    entryOf(scope, String((node.id as Node).value)).types.push({ node, scope })
}

function entryOf({ names }: Scope, name: string): Declared {
  const known = names.get(name) ?? { types: [], inner: undefined }
  names.set(name, known)
  return known
}

function declareImport(node: Node, scope: Scope): void {
  const source = String((node.source as Node).value)
  if (!source.startsWith('.')) return
  const file = join(dirname(scope.file), `${source.replace(/\.m?js$/, '')}.d.ts`)
  for (const specifier of listOf(node.specifiers)) {
    const local = String((specifier.local as Node).value)
    const original = specifier.imported as Node | null
    const name =
      specifier.type === 'ImportNamespaceSpecifier' ? undefined : String(original?.value ?? local)
    scope.names.set(local, { types: [], inner: undefined, imported: { file, name } })
  }
}

function listOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? (value as readonly Node[]) : []
}
