/**
 * Every link from a document to a file of the repository leads somewhere, and to a heading that is
 * there.
 */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const HOUSE = resolve(import.meta.dir, '../..')
const DOCUMENTS = ['*.md', 'docs/**/*.md', 'src/**/*.md']

/** GitHub's anchors of headings: small letters, without punctuation, hyphens for spaces. */
function anchorsOf(text: string): Set<string> {
  const headings = withoutCode(text).matchAll(/^#{1,6} +(.+)$/gm)
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '')
}

function brokenLinksOf(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : join(dirname(path), file)
    if (!existsSync(target)) return true
    return (
      anchor !== undefined &&
      statSync(target).isFile() &&
      !anchorsOf(readFileSync(target, 'utf8')).has(anchor)
    )
  })
}

test('no link in a document leads nowhere', () => {
  const paths = DOCUMENTS.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: HOUSE })])
  expect(paths.length).toBeGreaterThan(30)
  const broken = paths.flatMap((path) =>
    brokenLinksOf(join(HOUSE, path)).map(
      (link) => `${relative(HOUSE, join(HOUSE, path))}: ${link}`,
    ),
  )
  expect(broken).toEqual([])
})

test('each decision record is in the list of them', () => {
  const records = [...new Bun.Glob('[0-9]*.md').scanSync({ cwd: join(HOUSE, 'docs/decisions') })]
  expect(records.length).toBeGreaterThan(30)
  const list = readFileSync(join(HOUSE, 'docs/decisions/README.md'), 'utf8')
  expect(records.filter((record) => !list.includes(`(${record})`))).toEqual([])
})
