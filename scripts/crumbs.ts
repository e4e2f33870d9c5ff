/**
 * Which files of the product are crumbs: under 60 lines, and imported by one other file alone. Most
 * belong into it (docs/decisions/0063). Tests, fixtures and generated files are no product. Must
 * not judge: a file that has to stay by itself is counted too.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

const MOST_LINES = 60

const USAGE = `bun scripts/crumbs.ts [FOLDER]

Lists the files under src/ and web/ that have fewer than ${MOST_LINES} lines and one importer, with it.
  FOLDER    only those under it
  --help    this text`

const NOT_PRODUCT = /\.(?:test|fixture|d)\.tsx?$/
/** They import, and are nobody's to merge. */
const GENERATED = /\.generated\.ts$/
/** By a statement; `import()` loads a file by itself, and such a file stays one. */
const IMPORTED = /(?:\bfrom|\bimport)\s*'(\.[^']+)'/g

interface Crumb {
  readonly path: string
  readonly lines: number
  readonly importer: string
}

function findCrumbs(): readonly Crumb[] {
  const paths = [...new Bun.Glob('{src,web}/**/*.{ts,tsx}').scanSync()]
    .filter((path) => !NOT_PRODUCT.test(path))
    .sort()
  const texts = new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
  const importers = new Map<string, Set<string>>()
  for (const [path, text] of texts)
    for (const [, imported = ''] of text.matchAll(IMPORTED)) {
      const target = join(dirname(path), imported)
      const known = importers.get(target)
      if (known === undefined) importers.set(target, new Set([path]))
      else known.add(path)
    }
  return [...texts].flatMap(([path, text]) => {
    const [importer, ...others] = importers.get(path) ?? []
    const lines = text.split('\n').length - 1
    if (GENERATED.test(path) || lines >= MOST_LINES) return []
    if (importer === undefined || others.length > 0) return []
    return [{ path, lines, importer }]
  })
}

const { values, positionals } = parseArgs({
  options: { help: { type: 'boolean' } },
  allowPositionals: true,
})
if (values.help === true) console.log(USAGE)
else {
  const crumbs = findCrumbs().filter(({ path }) => path.startsWith(positionals[0] ?? ''))
  for (const { path, lines, importer } of crumbs)
    console.log(`${String(lines).padStart(5)} ${path} < ${importer}`)
  console.log(`${crumbs.length} crumbs`)
}
