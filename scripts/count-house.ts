/**
 * Prints the size of the code base, one figure per line: `bun scripts/count-house.ts [FOLDER]`.
 * FOLDER is a checkout with its packages installed, by default this checkout.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readGraph } from './check-layers.ts'
import { findRepeatedLists, isProductFile, readWordLists } from './check-word-lists.ts'
import { findPassedFiles, JOURNEYS } from './count-house/passed-files.ts'
import { importedFolders, type LayerTable, unusedPermissions } from './layer-rules.ts'

const HELP = `bun scripts/count-house.ts [FOLDER] [--files PATH]

Counts the product, the path of a request, places to touch, tables, rooms and scripts of a checkout.
--files PATH  only lists the files of one path, with how many of their lines a request runs:
              ${JOURNEYS.join(', ')}`

const PLACES = {
  'places of an inbound dialect (mistral-fim)': /'mistral-fim'/,
  'places of an upstream-only dialect (bedrock-converse)': /'bedrock-converse'/,
  'places of a plain resource (tags)': /\/tags\b|\btag: \{|\btag: define|\bTagTable\b|\('tags'\)/,
}
const GENERATED_CODE = /\.generated\.ts$/
const COMPILED = /json-walk\.generated\.ts$/
const SUM_TABLE = /^usage_|_hours$/

type Row = readonly [name: string, figure: string | number]

function countProduct(folder: string): Row[] {
  const graph = readGraph(folder)
  const paths = [...graph.keys()].filter(isProductFile)
  const texts = new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
  const lines = [...texts.values()].map(countLines).sort((left, right) => left - right)
  const importers = Map.groupBy(
    paths.flatMap((path) => graph.get(path) ?? []),
    (target) => target,
  )
  return [
    ['product lines (src + web)', lines.reduce((sum, count) => sum + count, 0)],
    ['product files', paths.length],
    ['median lines of a file', lines[Math.floor(lines.length / 2)] ?? 0],
    ['files with one importer', paths.filter((path) => importers.get(path)?.length === 1).length],
    ...Object.entries(PLACES).map(
      ([name, pattern]): Row => [
        name,
        [...texts.values()].filter((text) => pattern.test(text)).length,
      ],
    ),
    ...countTables(texts.get('src/store/schema.ts') ?? ''),
    [
      'generated code files',
      [...graph.keys()].filter((path) => GENERATED_CODE.test(path) && !COMPILED.test(path)).length,
    ],
    ['word lists in more than one file', findRepeatedLists(readWordLists(folder)).size],
  ]
}

/** Tables of the interface that Kysely gets, without the tables of users. */
function countTables(schema: string): Row[] {
  const members = /^export interface Schema [^{]*\{([\s\S]*?)^\}/m.exec(schema)?.[1] ?? ''
  const tables = Array.from(members.matchAll(/^ {2}readonly (\w+): /gm), ([, name = '']) => name)
  return [
    ['tables', tables.length],
    ['tables for sums', tables.filter((name) => SUM_TABLE.test(name)).length],
  ]
}

async function countRooms(folder: string): Promise<Row[]> {
  const { layers } = (await import(join(folder, 'layers.mjs'))) as { readonly layers: LayerTable }
  const rooms = importedFolders(readGraph(folder))
  const floorOf = (room: string): number =>
    1 + Math.max(0, ...[...(rooms.get(room) ?? [])].map(floorOf))
  return [
    ['rooms', Object.keys(layers).length],
    ['floors', Math.max(...Object.keys(layers).map(floorOf))],
    ['arrows', [...rooms.values()].reduce((sum, targets) => sum + targets.size, 0)],
    ['unused permissions in layers.mjs', unusedPermissions(readGraph(folder), layers).length],
  ]
}

function countScripts(folder: string): Row[] {
  const paths = [...new Bun.Glob('{scripts,bench}/**/*.{ts,sh,lua,grit}').scanSync(folder)]
  const lines = paths.map((path) => countLines(readFileSync(join(folder, path), 'utf8')))
  return [['lines of scripts + bench', lines.reduce((sum, count) => sum + count, 0)]]
}

function countLines(text: string): number {
  return text.split('\n').length - 1
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { files: { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  const folder = resolve(positionals[0] ?? join(import.meta.dir, '..'))
  const asked = JOURNEYS.find((name) => name === values.files)
  if (values.help === true || (values.files !== undefined && asked === undefined)) {
    console.log(HELP)
    return
  }
  if (asked !== undefined) {
    for (const [path, lines] of await findPassedFiles(folder, asked))
      console.log(`${String(lines).padStart(5)} ${path}`)
    return
  }
  const print = (rows: readonly Row[]) => {
    for (const [name, figure] of rows)
      console.log(`${name.padEnd(56)}${String(figure).padStart(8)}`)
  }
  print(countProduct(folder))
  for (const journey of JOURNEYS)
    print([
      [`files that a request passes: ${journey}`, (await findPassedFiles(folder, journey)).length],
    ])
  print(await countRooms(folder))
  print(countScripts(folder))
}

await main()
