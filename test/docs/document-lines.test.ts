/** The prose of documents keeps to the length of line that the code has. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const HOUSE = resolve(import.meta.dir, '../..')
const LONGEST = 100
/** Made by programs, from texts that tables hold too. */
const isGenerated = (path: string) => /^docs\/(?:generated\/|benchmarks\.md$)/.test(path)

/** Neither headings nor tables, which Markdown cannot break, nor code. */
function longLinesOf(text: string): string[] {
  let isCode = false
  return text.split('\n').filter((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    if (isCode || isFence || /^\s*(?:#|\||<)/.test(line)) return false
    return line.length > LONGEST && !isOnePiece(line)
  })
}

/** Whether it is a link, a name or a command that has no place to break, after what opens it. */
function isOnePiece(line: string): boolean {
  const pieces = line
    .replaceAll(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, (piece) => piece.replaceAll(' ', '_'))
    .trim()
    .split(/\s+/)
  return pieces.some((piece) => piece.length > LONGEST - 10)
}

test('prose of documents has at most 100 columns', () => {
  const paths = ['CONTRIBUTING.md', ...new Bun.Glob('docs/**/*.md').scanSync({ cwd: HOUSE })]
  expect(paths.length).toBeGreaterThan(80)
  const long = paths
    .filter((path) => !isGenerated(path))
    .flatMap((path) =>
      longLinesOf(readFileSync(join(HOUSE, path), 'utf8')).map((line) => `${path}: ${line}`),
    )
  expect(long).toEqual([])
})
