/**
 * Checks that no closed word list, such as `'low' | 'high' | 'max'`, is written in several files of
 * the product: `bun scripts/check-word-lists.ts`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Expression, parseSync, type TsLiteral, type TsType } from '@swc/core'

const FEWEST_FILES = 10
/** Shorter lists are often equal by chance. */
const FEWEST_WORDS = 3

/** @returns each list once, as its sorted words joined by ` | ` */
export function findWordLists(path: string, text: string): ReadonlySet<string> {
  const lists = new Set<string>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const words = new Set('type' in node ? wordsOf(node as TsType | Expression) : [])
    if (words.size >= FEWEST_WORDS && !words.has(undefined))
      lists.add([...words].sort().join(' | '))
    for (const value of Object.values(node)) visit(value)
  }
  visit(parseSync(text, { syntax: 'typescript', tsx: path.endsWith('x'), target: 'esnext' }))
  return lists
}

/** Undefined for an element that is not a word. */
function wordsOf(node: TsType | Expression): (string | undefined)[] {
  if (node.type === 'TsUnionType')
    return node.types.map((part) =>
      part.type === 'TsLiteralType' ? textOf(part.literal) : undefined,
    )
  if (node.type === 'ArrayExpression')
    return node.elements.map((element) => element && textOf(element.expression))
  return []
}

function textOf(node: TsLiteral | Expression): string | undefined {
  return node.type === 'StringLiteral' ? node.value : undefined
}

/**
 * @param listsOf path → the lists of the file
 * @returns each list that more than one file writes, with their paths
 */
export function findRepeatedLists(
  listsOf: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, string[]>()
  for (const [path, lists] of listsOf)
    for (const list of lists) paths.set(list, [...(paths.get(list) ?? []), path])
  return new Map([...paths].filter(([, found]) => found.length > 1))
}

export function isProductFile(path: string): boolean {
  return /^(src|web)\/.*\.tsx?$/.test(path) && !/\.(test|fixture|generated)\.tsx?$/.test(path)
}

/**
 * Skips released migrations, which never change and so cannot import a list that does.
 * @returns path → the lists of the file
 */
export function readWordLists(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const paths = [...new Bun.Glob('{src,web}/**/*.{ts,tsx}').scanSync(folder)]
  const texts = paths
    .filter((path) => isProductFile(path) && !path.startsWith('src/store/migrations/'))
    .sort()
  return new Map(
    texts.map((path) => [path, findWordLists(path, readFileSync(join(folder, path), 'utf8'))]),
  )
}

if (import.meta.main) {
  const listsOf = readWordLists(join(import.meta.dir, '..'))
  const repeated = findRepeatedLists(listsOf)
  if (repeated.size > 0) {
    for (const [list, paths] of repeated) console.error(`${list}\n    ${paths.join(' ')}`)
    console.error('Write each list once, beside its type in core/ or contract/, and import it.')
  }
  console.log(
    `word lists: ${listsOf.size} files read, ${repeated.size} lists in more than one file`,
  )
  if (repeated.size > 0 || listsOf.size < FEWEST_FILES) process.exitCode = 1
}
