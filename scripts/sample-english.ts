/**
 * Draws comments and user-visible sentences at random, for a reader who judges their English. The
 * same commit always gives the same sample.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const HELP = `bun scripts/sample-english.ts [COMMIT]

Prints 60 comments from product files, each with the three lines of code after it, and 40
sentences that users see. COMMIT (default: HEAD) is only the seed; the text is the working tree's.`

const COMMENTS = 60
const SENTENCES = 40
const LINES_OF_CODE = 3

export interface Drawn {
  readonly place: string
  readonly text: string
}

const COMMENT = /^[ \t]*(?:\/\*\*?[\s\S]*?\*\/|(?:\/\/ .*\n[ \t]*)*\/\/ .*)/gm
const NOT_PROSE = /biome-ignore|@ts-|eslint|https?:\/\/\S+\s*$/

export function findComments(file: string, source: string): Drawn[] {
  return [...source.matchAll(COMMENT)]
    .filter(([text]) => countWords(text) >= 4 && !NOT_PROSE.test(text))
    .map((match) => {
      const end = match.index + match[0].length
      const code = source
        .slice(end)
        .split('\n')
        .slice(1, 1 + LINES_OF_CODE)
      return { place: placeOf(file, source, match.index), text: [match[0], ...code].join('\n') }
    })
}

const STRING = /'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|>([^<>{}]+)</g
const SENTENCE = /^[A-Z'][^{}]*[.?!:]$/

export function findTexts(file: string, source: string): Drawn[] {
  const code = source.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, ' '))
  return [...code.matchAll(STRING)]
    .map((match) => ({ match, text: (match[1] ?? match[2] ?? match[3] ?? '').trim() }))
    .filter(({ text }) => countWords(text) >= 4 && SENTENCE.test(text.replace(/\$\{[^}]*\}/g, 'x')))
    .map(({ match, text }) => ({ place: placeOf(file, code, match.index), text }))
}

const FENCE = /^ *(`{3,})[^\n]*\n[\s\S]*?^ *\1`* *$/gm
const ITEM = /^ *(?:[-*]|\d+\.) /
/** Tables, headings, HTML, quotations, and the line with a record's state. */
const NEITHER = /^ *[|#<>]|^Status: /

/**
 * The sentences of a page's paragraphs and list items. A sentence before a list that ends with a
 * colon includes the list.
 */
export function findProse(file: string, page: string): Drawn[] {
  const blocks: { place: string; text: string }[] = []
  let isOpen = false
  let isAfterBlank = false
  const prose = page.replace(FENCE, (block) => `#${block.replace(/[^\n]/g, '')}`)
  prose.split('\n').forEach((line, index) => {
    const last = blocks.at(-1)
    if (line.trim() === '') {
      isAfterBlank = true
      return
    }
    if (NEITHER.test(line)) {
      isOpen = false
    } else if (last !== undefined && isOpen && continues(last.text, line, isAfterBlank)) {
      last.text += ` ${line.trim()}`
    } else {
      blocks.push({ place: `${file}:${index + 1}`, text: line.trim() })
      isOpen = true
    }
    isAfterBlank = false
  })
  return blocks.flatMap(({ place, text }) =>
    text
      .replace(/\s+/g, ' ')
      .split(/(?<=[.?!]) (?=(?:[-*] |\d+\. )?[A-Z`*[])/)
      .filter((sentence) => countWords(sentence) >= 4)
      .map((sentence) => ({ place, text: sentence })),
  )
}

function continues(text: string, line: string, isAfterBlank: boolean): boolean {
  if (!ITEM.test(line)) return !isAfterBlank
  if (text.endsWith(':')) return true
  return !isAfterBlank && / (?:[-*]|\d+\.) [^.?!]*[^.?!\s]$/.test(text)
}

export function draw(from: readonly Drawn[], count: number, seed: string): readonly Drawn[] {
  const rank = ({ place, text }: Drawn) =>
    createHash('sha256').update(`${seed}\n${place}\n${text}`).digest('hex')
  return from
    .map((one) => ({ one, rank: rank(one) }))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1))
    .slice(0, count)
    .map(({ one }) => one)
}

function countWords(text: string): number {
  return text.match(/[A-Za-z]{2,}/g)?.length ?? 0
}

function placeOf(file: string, source: string, index: number): string {
  return `${file}:${source.slice(0, index).split('\n').length}`
}

function listFiles(...patterns: readonly string[]): readonly string[] {
  const { stdout } = Bun.spawnSync(['git', 'ls-files', '--', ...patterns])
  return stdout.toString().trim().split('\n')
}

function collect(
  files: readonly string[],
  find: (file: string, text: string) => Drawn[],
): readonly Drawn[] {
  return files.flatMap((file) => find(file, readFileSync(file, 'utf8')))
}

function print(title: string, drawn: readonly Drawn[]): void {
  console.log(`# ${title}\n`)
  drawn.forEach(({ place, text }, index) => {
    console.log(`${index + 1}. ${place}\n${text}\n`)
  })
}

if (import.meta.main) {
  const [commit = 'HEAD'] = process.argv.slice(2)
  if (commit.startsWith('-')) {
    console.log(HELP)
    process.exit(0)
  }
  const seed = Bun.spawnSync(['git', 'rev-parse', commit]).stdout.toString().trim()
  const isProduct = (file: string) => !/\.(?:test|fixture|generated)\.tsx?$|\.d\.ts$/.test(file)
  const product = listFiles('src/*.ts', 'web/*.ts', 'web/*.tsx').filter(isProduct)
  const pages = listFiles('README.md', 'docs/*.md', ':!docs/generated', ':!docs/lab')
  const sentences = [...collect(product, findTexts), ...collect(pages, findProse)]
  print('Comments', draw(collect(product, findComments), COMMENTS, seed))
  print('Sentences', draw(sentences, SENTENCES, seed))
}
