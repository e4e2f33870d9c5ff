/**
 * A version to come: the sources as they are, with one more step in the schema's history and one more version of the
 * journal's lines, in a folder of its own. Must not import anything from src/.
 */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')

export const NEXT_STEP = '9000_next_version'

/** What a version may do to tables that the one before uses. */
const STEP = `/** The step of a version to come. */
import type { Kysely } from 'kysely'
import type { Step } from './newer-steps.ts'

export const nextVersion: Step = {
  async up(database: Kysely<unknown>) {
    for (const table of ['accounts', 'api_keys', 'gates', 'calls', 'usage_hours', 'usage_days', 'usage_notes'])
      await database.schema.alterTable(table).addColumn('next_note', 'text').execute()
    await database.schema
      .alterTable('calls')
      .addColumn('next_region', 'text', (column) => column.notNull().defaultTo('here'))
      .execute()
    await database.schema.createTable('next_things').addColumn('id', 'text').execute()
    await database.schema.createIndex('next_calls').on('calls').column('next_region').execute()
  },
}
`

/** File, what is in it, what stands there instead. */
const CHANGES = [
  ['package.json', /"version": "[^"]+"/, '"version": "99.0.0"'],
  [
    'src/store/migrations.ts',
    /export const migrations: Steps = \{/,
    `import { nextVersion } from './next-version.ts'\n$&\n  '${NEXT_STEP}': nextVersion,`,
  ],
  ['src/ledger/record-line.ts', /const VERSION = 5\b/, 'const VERSION = 6'],
  ['src/ledger/record-line.ts', /\? PRICED_VERSION : REFUSED_VERSION/, '? VERSION : VERSION'],
  ['src/ledger/record-line.ts', /(const MEMBERS: .*)\]\n/, '$1, [18, 19, 20]]\n'],
  ['src/ledger/record-line.ts', /(const COUNTS: .*)\]\n/, '$1, [4, 5]]\n'],
] as const

/** Its folder is what `startGatehouse` takes as `source`. @throws where the sources are no longer as they are expected */
export async function createNextVersion(): Promise<TemporaryFolder> {
  const folder = await createTemporaryFolder()
  try {
    for (const part of ['package.json', 'tsconfig.json', 'src'])
      await cp(join(REPOSITORY, part), join(folder.path, part), { recursive: true })
    await symlink(join(REPOSITORY, 'node_modules'), join(folder.path, 'node_modules'))
    await writeFile(join(folder.path, 'src/store/next-version.ts'), STEP)
    for (const [file, before, after] of CHANGES) {
      const path = join(folder.path, file)
      const text = await readFile(path, 'utf8')
      if (!before.test(text)) throw new Error(`${file} does not hold ${before}`)
      await writeFile(path, text.replace(before, after))
    }
    return folder
  } catch (error) {
    await folder.remove()
    throw error
  }
}
