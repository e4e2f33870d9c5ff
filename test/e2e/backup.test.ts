/**
 * A backup made under load as docs/operations/backup.md says (journals first, then the database),
 * restored where there was nothing: keys, gates, sealed credentials and every call that a client
 * had seen complete are there, and nothing counts twice.
 */

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startLoad } from '../support/call-load.ts'
import {
  controlPlaneCall,
  createGate,
  createKey,
  deleteKey,
  listLogRows,
} from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(120_000)

const MASTER_KEY = 'ab'.repeat(32)
const SEALED = 'sk-sealed-planted-000000000000'

/** One of the two databases, before and after. */
interface Scene {
  readonly name: string
  /** Of the node that is backed up, and of the one on the restored database. */
  environment(isRestored: boolean): Record<string, string>
  /** The document's commands for this database. */
  dump(dataFolder: string, backup: string): void
  restore(backup: string, dataFolder: string): void
  begin(): Promise<void>
  end(): Promise<void>
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stderr}`)
}

function scenes(): readonly Scene[] {
  const found = findPostgres()
  // A result may be a link to one or two of the programs.
  return found === undefined
    ? [sqlite]
    : [sqlite, onPostgres(dirname(realpathSync(join(found, 'initdb'))))]
}

const sqlite: Scene = {
  name: 'SQLite',
  environment: () => ({}),
  dump: (dataFolder, backup) => {
    const database = new Database(join(dataFolder, 'gatehouse.db'))
    database.run('VACUUM INTO ?', [join(backup, 'gatehouse.db')])
    database.close()
  },
  restore: (backup, dataFolder) =>
    cpSync(join(backup, 'gatehouse.db'), join(dataFolder, 'gatehouse.db')),
  begin: async () => {},
  end: async () => {},
}

function onPostgres(bin: string): Scene {
  let server: PostgresServer
  return {
    name: 'Postgres',
    environment: (isRestored) => ({
      DATABASE_URL: server.urlOf(isRestored ? 'restored' : 'gateway'),
    }),
    dump: (_dataFolder, backup) =>
      run(
        join(bin, 'pg_dump'),
        ...[
          '--format=custom',
          `--file=${backup}/gatehouse.dump`,
          `--dbname=${server.urlOf('gateway')}`,
        ],
      ),
    restore: (backup) =>
      run(
        join(bin, 'pg_restore'),
        ...[
          '--exit-on-error',
          '--no-owner',
          `--dbname=${server.urlOf('restored')}`,
          `${backup}/gatehouse.dump`,
        ],
      ),
    begin: async () => {
      server = await startPostgres()
      for (const name of ['gateway', 'restored'])
        await server.run(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`)
    },
    end: async () => {
      await server?.remove()
    },
  }
}

describe.each(scenes())('on $name', (scene) => {
  let folder: TemporaryFolder
  let upstream: RawUpstream
  const key = createBootstrapKey()
  beforeAll(async () => {
    folder = await createTemporaryFolder()
    upstream = await startRawUpstream()
    upstream.answer(
      jsonAnswer(200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }),
    )
    await scene.begin()
  })
  afterAll(async () => {
    await upstream?.stop()
    await scene.end()
    await folder?.remove()
  })

  function start(name: string): Promise<Gatehouse> {
    return startGatehouse({
      sandbox: true,
      key,
      dataFolder: join(folder.path, name),
      environment: {
        GATEHOUSE_MASTER_KEY: MASTER_KEY,
        OPENAI_BASE_URL: `${upstream.url}/v1`,
        ...scene.environment(name === 'restored'),
      },
    })
  }

  test('a backup made under load holds everything that had been answered, once', async () => {
    const complete = new Set<string>()
    const before = await start('node')
    let other: { readonly key: string }
    let revoked: { readonly id: string; readonly key: string }
    const backup = join(folder.path, 'backup')
    let answered: ReadonlySet<string>
    try {
      await createGate(before, 'assistant', 'openai/gpt-4o')
      await controlPlaneCall(before, 'PUT', '/v1/provider-keys/openai', { key: SEALED })
      other = await createKey(before, 'other')
      revoked = await createKey(before, 'revoked')
      await deleteKey(before, revoked.id)
      const load = startLoad(before, { clients: 6, complete, pauseMs: 10 })
      await pollUntil('calls', () => complete.size > 100)
      answered = new Set(complete)
      cpSync(join(before.dataFolder, 'journal'), join(backup, 'journal'), { recursive: true })
      scene.dump(before.dataFolder, backup)
      await load.stop()
    } finally {
      await before.kill()
    }

    const dataFolder = join(folder.path, 'restored')
    mkdirSync(dataFolder)
    cpSync(join(backup, 'journal'), join(dataFolder, 'journal'), { recursive: true })
    scene.restore(backup, dataFolder)
    const after = await start('restored')
    try {
      const rows = await pollUntil(
        'every call that had been answered',
        async () => {
          const found = await listLogRows(after)
          const ids = new Set(found.map(({ id }) => id))
          return [...answered].every((id) => ids.has(id)) ? found : undefined
        },
        { timeoutMs: 60_000, intervalMs: 500 },
      )
      expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
      // Other records of the journal may still be on their way to the store.
      await pollUntil(
        'sums of every call',
        async () => {
          const least = (await listLogRows(after)).length
          const summed = await countSummedCalls(after)
          const most = (await listLogRows(after)).length
          expect(summed).toBeGreaterThanOrEqual(least)
          expect(summed).toBeLessThanOrEqual(most)
          return least === most
        },
        { timeoutMs: 60_000 },
      )

      expect(await callAssistant(after, other.key)).toBe(200)
      expect(upstream.last().headers.authorization).toBe(`Bearer ${SEALED}`)
      expect(await callAssistant(after, revoked.key)).toBe(401)
      expect(
        readdirSync(join(dataFolder, 'journal')).filter((name) => name.endsWith('.damaged')),
      ).toEqual([])
    } finally {
      await after.remove()
    }
  })
})

async function countSummedCalls(gatehouse: Gatehouse): Promise<number> {
  const answer = await controlPlaneCall(
    gatehouse,
    'GET',
    '/v1/analytics?interval=all&group_by=gate',
  )
  const { data } = (await answer.json()) as { data: { calls: number }[] }
  return data.reduce((sum, { calls }) => sum + calls, 0)
}

async function callAssistant({ url }: Gatehouse, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'hello' }] }),
  })
  await response.text()
  return response.status
}
