/**
 * A whole gateway in this process on a database that fails: refused as what it is, named in the
 * log, and ready only when it can serve.
 */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { databases } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { readSettings } from '../config/settings.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const key = `sk-svc-${'5a'.repeat(32)}`

let folder: TemporaryFolder
let gatehouse: Gatehouse | undefined
beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(async () => {
  await gatehouse?.close()
  gatehouse = undefined
  await folder.remove()
})

async function start(environment: Record<string, string> = {}): Promise<Gatehouse> {
  const settings = readSettings({ GATEHOUSE_DATA_DIR: folder.path, ...environment })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent') })
  gatehouse.keys.addEphemeral(new Secret(key), { accountId: DEFAULT_ACCOUNT, name: 'test' })
  return gatehouse
}

async function ask(method: string, path: string, body?: object) {
  const response = await gatehouse?.handle(
    new Request(`http://gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  return {
    status: response?.status,
    retryAfter: response?.headers.get('retry-after'),
    json: (await response?.json()) as Record<string, unknown>,
  }
}

const REFUSED = { status: 503, retryAfter: '2', json: { error: 'unavailable' } }

test('a change while the database is busy is refused as unavailable, and works afterwards', async () => {
  await start()
  const other = new Database(join(folder.path, 'gatehouse.db'))
  other.run('BEGIN IMMEDIATE')
  expect(await ask('POST', '/v1/keys', { name: 'late' })).toMatchObject(REFUSED)
  other.run('ROLLBACK')
  other.close()
  expect((await ask('POST', '/v1/keys', { name: 'late' })).status).toBe(201)
})

test('a node without past usage is not ready, gives the reason, and becomes ready by itself', async () => {
  await (await start()).close()
  const other = new Database(join(folder.path, 'gatehouse.db'))
  other.run('ALTER TABLE usage_days RENAME TO usage_days_gone')
  await start()
  expect(await ask('GET', '/readyz')).toMatchObject({
    status: 503,
    json: { status: 'not ready', checks: { usage: { status: 'failing' } } },
  })
  other.run('ALTER TABLE usage_days_gone RENAME TO usage_days')
  other.close()
  const ready = await pollUntil('readiness', async () => {
    const answer = await ask('GET', '/readyz')
    return answer.status === 200 ? answer : undefined
  })
  expect(ready.json).toMatchObject({ status: 'ready', checks: { usage: { status: 'ok' } } })
})

describe.each(databases.filter(({ name }) => name === 'Postgres'))('on $name', (kind) => {
  test('a server that takes no writes refuses changes as unavailable, and earlier commits are followed', async () => {
    const { location, run, remove } = await kind.create({ own: true })
    if ('path' in location) throw new Error('no Postgres')
    try {
      await start({ DATABASE_URL: location.postgres.url.reveal(), GATEHOUSE_LEASE_MS: '600' })
      const created = await ask('POST', '/v1/keys', { name: 'revoked' })
      expect(created.status).toBe(201)
      const { id, key: revoked } = created.json as { id: string; key: string }
      const [{ name } = { name: '' }] = await run<{ name: string }>(
        'SELECT current_database() AS name',
      )
      await run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
      await run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      )
      await pollUntil('a refused change', async () => {
        const refused = await ask('POST', '/v1/keys', { name: 'late' })
        return refused.status === 503 && String(refused.json.message).includes('accepts no changes')
          ? refused
          : undefined
      })
      expect((await ask('GET', '/v1/audit-log')).status).toBe(200)
      // Another node may commit a change in this very moment.
      await run(`BEGIN READ WRITE; DELETE FROM api_keys WHERE id = '${id}'; COMMIT`)
      await pollUntil('the revocation', async () => {
        const answer = await gatehouse?.handle(
          new Request('http://gateway/v1/gates', {
            headers: { authorization: `Bearer ${revoked}` },
          }),
        )
        return answer?.status === 401 ? true : undefined
      })
      expect((await ask('GET', '/v1/gates')).status).toBe(200)
    } finally {
      await gatehouse?.close()
      gatehouse = undefined
      await remove()
    }
  })

  test('a role that lost its grants refuses changes as unavailable with the reason, and they work once granted', async () => {
    const { location, run, remove } = await kind.create({ own: true })
    if ('path' in location) throw new Error('no Postgres')
    try {
      await start({ DATABASE_URL: location.postgres.url.reveal() })
      const [{ name } = { name: '' }] = await run<{ name: string }>(
        'SELECT current_database() AS name',
      )
      const change = (setting: string) =>
        run(
          `SET ROLE NONE; ALTER DATABASE ${name} ${setting}; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
        )
      await change("SET role = 'pg_read_all_data'")
      const refused = await pollUntil('a refused change', async () => {
        const answer = await ask('POST', '/v1/keys', { name: 'late' })
        return String(answer.json.message).includes('reached') ? undefined : answer
      })
      expect(refused).toMatchObject(REFUSED)
      expect(refused.json.message).toContain('its operator has to grant it')
      await change('RESET role')
      await pollUntil('a change', async () => {
        const { status } = await ask('POST', '/v1/keys', { name: 'late' })
        return status === 201 ? true : undefined
      })
    } finally {
      await gatehouse?.close()
      gatehouse = undefined
      await remove()
    }
  })
})
