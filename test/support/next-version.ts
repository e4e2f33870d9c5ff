/** A later version: a copy of the sources with another migration and more columns of a call. */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')

export const NEXT_STEP = '9000_next_version'

/** A migration that is allowed while the previous version serves. */
const STEP = `/** The step of a version to come. */
import type { Kysely } from 'kysely'
import type { Step } from './newer-steps.ts'

export const nextVersion: Step = {
  async up(database: Kysely<unknown>) {
    for (const table of ['accounts', 'api_keys', 'gates', 'calls', 'usage_hours', 'usage_days'])
      await database.schema.alterTable(table).addColumn('next_note', 'text').execute()
    await database.schema
      .alterTable('calls')
      .addColumn('next_region', 'text', (column) => column.notNull().defaultTo('here'))
      .execute()
    for (const name of ['next_place', 'next_way'])
      await database.schema.alterTable('calls').addColumn(name, 'text').execute()
    for (const name of ['next_wait_ms', 'next_at', 'next_is_near', 'next_hops'])
      await database.schema.alterTable('calls').addColumn(name, 'bigint').execute()
    await database.schema.createTable('next_things').addColumn('id', 'text').execute()
    await database.schema.createIndex('next_calls').on('calls').column('next_region').execute()
  },
}
`

/** A new column of every kind that differs in a line, a row or an answer. */
const COLUMNS = [
  [
    "nextPlace: { type: 'text', column: 'next_place', fact: { title: 'Place' }",
    "{ description: 'Where it was answered.', example: 'here' }",
    "nextPlace: 'here'",
  ],
  ["nextWaitMs: { type: 'durationMs', column: 'next_wait_ms'", '{}', 'nextWaitMs: 1.6'],
  ["nextAt: { type: 'moment', column: 'next_at'", '{}', 'nextAt: 0'],
  ["nextIsNear: { type: 'flag', column: 'next_is_near'", '{}', 'nextIsNear: false'],
  [
    "nextWay: { type: 'choice', values: ['land', 'sea'], column: 'next_way'",
    '{}',
    "nextWay: accepted.stream ? 'land' : 'sea'",
  ],
  ["nextHops: { type: 'count', column: 'next_hops'", 'null', 'nextHops: 0'],
] as const

function withColumns(list: string): string {
  const after = (place: RegExp): number =>
    Math.max(...[...list.matchAll(place)].map(([, number]) => Number(number))) + 1
  const line = after(/\bline: (\d+)/g)
  const csv = after(/\bcsv: (\d+)/g)
  const columns = COLUMNS.map(
    ([beginning, body], index) =>
      `${beginning}, presence: 'optional', line: ${line + index}, csv: ${body === 'null' ? null : csv + index}, body: ${body} },`,
  )
  return list.replace(/export const CALL_COLUMNS = \{/, `$&\n${columns.join('\n')}`)
}

const CHANGES: readonly (readonly [string, RegExp, string | ((text: string) => string)])[] = [
  ['package.json', /"version": "[^"]+"/, '"version": "99.0.0"'],
  [
    'src/store/migrations/migrations.ts',
    /export const migrations: Steps = \{/,
    `import { nextVersion } from './next-version.ts'\n$&\n  '${NEXT_STEP}': nextVersion,`,
  ],
  ['src/core/call-columns.ts', /export const CALL_COLUMNS = \{/, withColumns],
  [
    'src/gateway/settle/settle.ts',
    /const record: CallRecord = \{/,
    `$&\n${COLUMNS.map(([, , said]) => `${said},`).join('\n')}`,
  ],
]

export async function createNextVersion(): Promise<TemporaryFolder> {
  const folder = await createTemporaryFolder()
  try {
    for (const part of ['package.json', 'tsconfig.json', 'src'])
      await cp(join(REPOSITORY, part), join(folder.path, part), { recursive: true })
    await symlink(join(REPOSITORY, 'node_modules'), join(folder.path, 'node_modules'))
    await writeFile(join(folder.path, 'src/store/migrations/next-version.ts'), STEP)
    for (const [file, before, after] of CHANGES) {
      const path = join(folder.path, file)
      const text = await readFile(path, 'utf8')
      if (!before.test(text)) throw new Error(`${file} does not hold ${before}`)
      await writeFile(path, typeof after === 'string' ? text.replace(before, after) : after(text))
    }
    return folder
  } catch (error) {
    await folder.remove()
    throw error
  }
}
