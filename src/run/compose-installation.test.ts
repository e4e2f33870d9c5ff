/**
 * A data folder, a store and a master key that do not belong together stop the start, until the
 * operator says that it is meant.
 */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { startWebhookReceiver } from '../../test/support/webhook-receiver.ts'
import { readSettings } from '../config/settings.ts'
import { hashApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'
import { acceptLocalStore, copyLocalStore } from './local-store.ts'

const FIRST = '1a'.repeat(32)
const SECOND = '2b'.repeat(32)

let folder: TemporaryFolder
let gatehouse: Gatehouse | undefined
let number = 0
beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(async () => {
  await stop()
  await folder.remove()
})

type Environment = Record<string, string>

async function start(environment: Environment = {}): Promise<Gatehouse> {
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder.path,
    // A key that is set is tested there.
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    ...environment,
  })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent') })
  return gatehouse
}

async function stop(): Promise<void> {
  await gatehouse?.close()
  gatehouse = undefined
}

/** @returns why it was refused; empty: it was not */
async function refusalOf(environment: Environment = {}): Promise<string> {
  try {
    await start(environment)
  } catch (error) {
    return error instanceof Error && error.name === 'InstallationMismatchError'
      ? error.message
      : `no mismatch: ${error}`
  }
  await stop()
  return ''
}

async function accept(environment: Environment = {}): Promise<readonly string[]> {
  const { accepted } = await acceptLocalStore({ GATEHOUSE_DATA_DIR: folder.path, ...environment })
  return accepted
}

/** One change more. */
async function change(): Promise<void> {
  number += 1
  const key = new Secret(`sk-svc-${String(number).padStart(64, 'c0ffee9a41')}`)
  await gatehouse?.keys.import({ accountId: DEFAULT_ACCOUNT, name: 'test', key })
}

const CALLER = new Secret(`sk-svc-${'5a'.repeat(32)}`)

async function ask(method: string, path: string, body?: object, key = CALLER.reveal()) {
  if (gatehouse?.keys.find(hashApiKey(CALLER.reveal())) === undefined)
    gatehouse?.keys.addEphemeral(CALLER, { accountId: DEFAULT_ACCOUNT, name: 'test' })
  const response = await gatehouse?.handle(
    new Request(`http://gateway${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
  const text = (await response?.text()) ?? ''
  const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  return { status: response?.status, json }
}

async function setProviderKey(): Promise<number | undefined> {
  return (await ask('PUT', '/v1/provider-keys/openai', { key: 'sk-planted-0000000000' })).status
}

/** Once it is so, `/readyz` as it is then. */
function readinessWith(
  what: string,
  isMet: (said: { status: number | undefined; text: string }) => boolean,
) {
  return pollUntil(what, async () => {
    const { status, json } = await ask('GET', '/readyz')
    return isMet({ status, text: JSON.stringify(json) }) ? { status, json } : undefined
  })
}

const inFolder = (name: string) => join(folder.path, name)

/** The database's own files, as a backup that was made while nothing ran. */
function copyDatabase(from: string, to: string): void {
  for (const name of readdirSync(from).filter((each) => each.startsWith('gatehouse.db')))
    cpSync(join(from, name), join(to, name))
}

function removeDatabase(): void {
  for (const name of readdirSync(folder.path).filter((each) => each.startsWith('gatehouse.db')))
    rmSync(inFolder(name))
}

test('a start accepts the last one’s state, even after changes and without its latest files', async () => {
  await start()
  await change()
  await stop()
  expect(await refusalOf()).toBe('')
  expect(await accept()).toEqual([])
})

test('an empty database in place of the earlier one stops the start', async () => {
  await start()
  await change()
  await stop()
  removeDatabase()
  const refusal = await refusalOf()
  expect(refusal).toContain('found a new or replaced database')
  expect(refusal).toContain('gatehouse store accept')
  // It stays so, however often it is tried.
  expect(await refusalOf()).toBe(refusal)
  expect(await accept()).toHaveLength(1)
  expect(await refusalOf()).toBe('')
})

test("another installation's database stops the start", async () => {
  const other = await createTemporaryFolder()
  try {
    const settings = readSettings({ GATEHOUSE_DATA_DIR: other.path })
    await (await composeGatehouse({ settings, log: createLog('silent') })).close()
    await start()
    await stop()
    removeDatabase()
    copyDatabase(other.path, folder.path)
    expect(await refusalOf()).toMatch(
      /another installation's: found inst_\w+, but .* belongs to installation inst_/,
    )
    await accept()
    expect(await refusalOf()).toBe('')
  } finally {
    await other.remove()
  }
})

test('a database backup older than the folder’s record stops the start, and starts once it is accepted', async () => {
  const backup = await createTemporaryFolder()
  try {
    await start()
    await change()
    await stop()
    copyDatabase(folder.path, backup.path)
    await start()
    await change()
    await change()
    await stop()
    removeDatabase()
    copyDatabase(backup.path, folder.path)
    expect(await refusalOf()).toMatch(
      /set back in time: found it at change \d+, but .* has seen change \d+/,
    )
    expect(await accept()).toHaveLength(1)
    expect(await refusalOf()).toBe('')
  } finally {
    await backup.remove()
  }
})

test('a whole restored folder, and a database in a new folder, start without a question', async () => {
  const backup = await createTemporaryFolder()
  try {
    await start()
    await change()
    await stop()
    cpSync(folder.path, backup.path, { recursive: true })
    await start()
    await change()
    await stop()
    rmSync(folder.path, { recursive: true })
    cpSync(backup.path, folder.path, { recursive: true })
    expect(await refusalOf()).toBe('')
    rmSync(inFolder('installation.json'))
    expect(await refusalOf()).toBe('')
  } finally {
    await backup.remove()
  }
})

test('a damaged record in the folder stops the start, and is written again once that is accepted', async () => {
  await start()
  await stop()
  writeFileSync(inFolder('installation.json'), '{"id":')
  expect(await refusalOf()).toContain('installation.json is damaged')
  await accept()
  expect(await refusalOf()).toBe('')
})

describe('the master key', () => {
  test('stops the start if it is wrong, with or without credentials, and not if it is among the previous ones', async () => {
    await start({ GATEHOUSE_MASTER_KEY: FIRST })
    expect(await setProviderKey()).toBe(201)
    await stop()
    const refusal = await refusalOf({ GATEHOUSE_MASTER_KEY: SECOND })
    expect(refusal).toMatch(/found [0-9a-f]{8}, expected [0-9a-f]{8}/)
    expect(refusal).not.toContain(FIRST)
    expect(refusal).not.toContain(SECOND)
    expect(
      await refusalOf({ GATEHOUSE_MASTER_KEY: SECOND, GATEHOUSE_MASTER_KEY_PREVIOUS: FIRST }),
    ).toBe('')
    expect(await refusalOf({ GATEHOUSE_MASTER_KEY: FIRST })).toContain(
      'The master key is not the one',
    )
    await accept({ GATEHOUSE_MASTER_KEY: FIRST })
    expect(await refusalOf({ GATEHOUSE_MASTER_KEY: FIRST })).toBe('')
  })

  test('stops the start if its file is lost, and no second one is created', async () => {
    await start()
    expect(await setProviderKey()).toBe(201)
    await stop()
    renameSync(inFolder('master.key'), inFolder('kept'))
    expect(await refusalOf()).toContain('found none')
    expect(existsSync(inFolder('master.key'))).toBe(false)
    renameSync(inFolder('kept'), inFolder('master.key'))
    expect(await refusalOf()).toBe('')
  })

  test('of the settings is the one for sign-ins, and no file is created beside it', async () => {
    await start({ GATEHOUSE_MASTER_KEY: FIRST })
    gatehouse?.keys.addEphemeral(CALLER, { accountId: DEFAULT_ACCOUNT, name: 'test' })
    const person = { email: 'a@example.test', name: 'A', password: 'correct horse battery staple' }
    const joined = await gatehouse?.handle(
      new Request('http://gateway/v1/auth/sign-up', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${CALLER.reveal()}`,
          origin: 'http://gateway',
          'x-gatehouse-csrf': '1',
          'content-type': 'application/json',
        },
        body: JSON.stringify(person),
      }),
    )
    expect(joined?.status).toBe(201)
    expect(existsSync(inFolder('master.key'))).toBe(false)
  })

  test('stops the start if its file is damaged, and the file is named', async () => {
    await start()
    expect(await setProviderKey()).toBe(201)
    await stop()
    writeFileSync(inFolder('master.key'), 'damaged\n', { mode: 0o600 })
    expect(await refusalOf()).toContain('MasterKeyError')
    expect(await refusalOf()).toContain(inFolder('master.key'))
  })

  test('of an earlier version’s store, which names none, is verified by opening its sealed values', async () => {
    await start({ GATEHOUSE_MASTER_KEY: FIRST })
    expect(await setProviderKey()).toBe(201)
    await stop()
    rmSync(inFolder('installation.json'))
    const database = new Database(inFolder('gatehouse.db'))
    database.run('DELETE FROM installation')
    database.close()
    expect(await refusalOf({ GATEHOUSE_MASTER_KEY: SECOND })).toContain(
      'the stored credentials name',
    )
    expect(await refusalOf({ GATEHOUSE_MASTER_KEY: FIRST })).toBe('')
  })
})

describe('a database file removed while the node serves', () => {
  test('is noticed: the node is not ready, changes are refused, until the file is back', async () => {
    await start()
    await change()
    const away = inFolder('kept.db')
    renameSync(inFolder('gatehouse.db'), away)
    expect(await ask('POST', '/v1/keys', { name: 'nowhere' })).toMatchObject({
      status: 503,
      json: { error: 'unavailable' },
    })
    const { json } = await readinessWith('what it says', ({ status }) => status === 503)
    expect(json).toMatchObject({ checks: { installation: { status: 'gone' } } })
    renameSync(away, inFolder('gatehouse.db'))
    expect((await ask('POST', '/v1/keys', { name: 'there' })).status).toBe(201)
    await readinessWith('readiness', ({ status }) => status === 200)
  })

  test('is noticed too if another file replaces it', async () => {
    await start()
    renameSync(inFolder('gatehouse.db'), inFolder('kept.db'))
    cpSync(inFolder('kept.db'), inFolder('gatehouse.db'))
    expect((await ask('POST', '/v1/keys', { name: 'nowhere' })).status).toBe(503)
  })
})

describe.each(databases.filter(({ name }) => name === 'Postgres'))('on $name', (kind) => {
  let one: TestDatabase
  let other: TestDatabase
  beforeEach(async () => {
    one = await kind.create({ own: true })
    other = await kind.create({ own: true })
  })
  afterEach(async () => {
    await stop()
    await one.remove()
    await other.remove()
  })

  const at = ({ location }: TestDatabase): Environment => {
    if ('path' in location) throw new Error('no Postgres')
    return { DATABASE_URL: location.postgres.url.reveal() }
  }

  test('the same folder with another DATABASE_URL stops the start before a journalled call goes there', async () => {
    await start(at(one))
    await stop()
    expect(await refusalOf(at(other))).toContain('found a new or replaced database')
    expect(await refusalOf()).toContain('found a new or replaced database')
    expect(await other.run('SELECT 1 FROM installation')).toEqual([])
    expect(await refusalOf(at(one))).toBe('')
  })

  test('a new node accepts the store', async () => {
    await start(at(one))
    await change()
    await stop()
    rmSync(inFolder('installation.json'))
    expect(await refusalOf(at(one))).toBe('')
  })

  test('a database set back in time stops the start of every node, until one accepts it for all', async () => {
    await start(at(one))
    await change()
    await change()
    await stop()
    const second = await createTemporaryFolder()
    try {
      cpSync(inFolder('installation.json'), join(second.path, 'installation.json'))
      await one.run('UPDATE change_counter SET value = 1; DELETE FROM changes WHERE seq > 1')
      expect(await refusalOf(at(one))).toContain('set back in time')
      expect(await accept(at(one))).toHaveLength(1)
      expect(await refusalOf(at(one))).toBe('')
      expect(await refusalOf({ ...at(one), GATEHOUSE_DATA_DIR: second.path })).toBe('')
    } finally {
      await second.remove()
    }
  })

  test('a start without DATABASE_URL is refused after a copy to Postgres, and one with it goes on', async () => {
    await start()
    for (let changes = 0; changes < 5; changes += 1) await change()
    await stop()
    await copyLocalStore({ GATEHOUSE_DATA_DIR: folder.path, ...at(one) })
    expect(await refusalOf()).toMatch(/was copied to Postgres, .*Set DATABASE_URL/)
    expect(await refusalOf(at(one))).toBe('')
    await accept()
    expect(await refusalOf()).not.toContain('was copied')
  })

  test('a copy is not cut by a server’s limit on statements', async () => {
    await start()
    await stop()
    // A trigger of this test, deleted with its database.
    await one.run(
      "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1.2); RETURN NEW; END'",
    )
    await one.run(
      'CREATE TRIGGER linger BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION linger()',
    )
    const environment = { ...at(one), GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS: '1000' }
    const { tables } = await copyLocalStore({ GATEHOUSE_DATA_DIR: folder.path, ...environment })
    expect(tables).toContainEqual({ table: 'accounts', rows: 1 })
    await one.run('DROP FUNCTION linger CASCADE')
  })

  test('a set-back during service is reported everywhere, and a deleted key stays refused', async () => {
    const receiver = startWebhookReceiver('unknown')
    try {
      await start({ ...at(one), GATEHOUSE_LEASE_MS: '600', GATEHOUSE_TRUSTED_HOSTS: receiver.host })
      const hook = { url: receiver.url, events: ['store.set-back'] }
      expect((await ask('POST', '/v1/webhooks', hook)).status).toBe(201)
      const { json } = await ask('POST', '/v1/keys', { name: 'revoked' })
      const { id, key } = json as { id: string; key: string }
      const lasting = (await ask('POST', '/v1/keys', { name: 'lasting' })).json as { key: string }
      const backup = await one.run<{ text: string }>(
        "SELECT string_agg(format('INSERT INTO api_keys SELECT * FROM json_populate_record(NULL::api_keys, %L)', to_json(k)), ';') AS text FROM api_keys k WHERE id = '" +
          id +
          "'",
      )
      expect((await ask('DELETE', `/v1/keys/${id}`)).status).toBe(200)
      expect((await ask('GET', '/v1/gates', undefined, key)).status).toBe(401)
      // A restored backup has the key and the earlier counter.
      await one.run(
        `BEGIN; SET LOCAL session_replication_role = replica; ${backup[0]?.text};
         DELETE FROM changes WHERE seq > 2; UPDATE change_counter SET value = 2; COMMIT`,
      )
      const told = await readinessWith('the going back', ({ text }) => text.includes('setBack'))
      expect(told.status).toBe(200)
      expect(told.json).toMatchObject({
        checks: { installation: { status: 'ok', setBack: { fromChange: 4, toChange: 2 } } },
      })
      expect((await ask('GET', '/v1/gates', undefined, key)).status).toBe(401)
      expect((await ask('GET', '/v1/gates', undefined, lasting.key)).status).toBe(200)
      const event = await pollUntil('the event', async () =>
        receiver.deliveries.find(({ eventName }) => eventName === 'store.set-back'),
      )
      expect(event.event.data).toEqual({ fromChange: 4, toChange: 2 })
      await stop()
      expect(await refusalOf(at(one))).toContain('set back in time')
    } finally {
      await receiver.stop()
    }
  })

  test("another installation's database during service makes the node unready, and it keeps its accounts", async () => {
    await start({ ...at(one), GATEHOUSE_LEASE_MS: '600' })
    const { key } = (await ask('POST', '/v1/keys', { name: 'known' })).json as { key: string }
    await one.run(
      "BEGIN; SET LOCAL session_replication_role = replica; UPDATE installation SET id = 'inst_other'; DELETE FROM api_keys; UPDATE change_counter SET value = 90; COMMIT",
    )
    const { json } = await readinessWith('what it says', ({ text }) => text.includes('"other"'))
    expect(json).toMatchObject({ status: 'not ready' })
    expect((await ask('GET', '/v1/models', undefined, key)).status).toBe(200)
  })
})
