/**
 * The master key's rotation with the real programs: beside a serving server, killed half-way, by
 * file and by environment.
 */

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '../../src/core/secret.ts'
import { createVault } from '../../src/core/vault.ts'
import { boundToTest } from '../support/bound-to-test.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { PROGRAM } from '../support/program.ts'
import { CHAT } from '../support/raw-scene.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

setDefaultTimeout(180_000)

const OWN = 'sk-own-planted-1111111111111111-aaaa'
const FIRST = '01'.repeat(32)
const SECOND = '02'.repeat(32)
/** Enough that a kill finds some of them done and some not. */
const MANY = 5000
const ANSWER = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }

let folder: TemporaryFolder
let upstream: RawUpstream
let gatehouse: Gatehouse

async function start(environment: Record<string, string> = {}): Promise<void> {
  const previous = gatehouse as Gatehouse | undefined
  gatehouse = await startGatehouse({
    dataFolder: folder.path,
    ...(previous === undefined ? {} : { key: previous.key }),
    environment: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'the-platforms',
      ...environment,
    },
  })
}

beforeEach(async () => {
  folder = await createTemporaryFolder()
  upstream = await startRawUpstream()
  upstream.answer(jsonAnswer(200, ANSWER))
})
afterEach(async () => {
  await gatehouse?.remove()
  await upstream.stop()
  await folder.remove()
})

/** @param how in this process, where a second one is not the point */
async function masterKey(
  command: 'status' | 'rotate',
  environment: Record<string, string> = {},
  how: typeof runCli = runCliInProcess,
) {
  const { exitCode, stdout, stderr } = await how(['master-key', command, '--json'], {
    environment: { GATEHOUSE_DATA_DIR: folder.path, ...environment },
  })
  for (const key of [FIRST, SECOND, ...keysInFile()]) expect(stdout + stderr).not.toContain(key)
  const said = stdout === '' ? {} : JSON.parse(stdout)
  return { exitCode, stderr, said, table: said.tables?.[0] }
}

function keysInFile(): string[] {
  const path = join(folder.path, 'master.key')
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => /^[0-9a-f]{64}$/.test(line))
}

async function setKey(key: string): Promise<void> {
  const response = await controlPlaneCall(gatehouse, 'PUT', '/v1/provider-keys/openai', { key })
  expect([200, 201]).toContain(response.status)
}

/** The key with which the upstream is asked. */
async function keyInUse(): Promise<string | undefined> {
  upstream.reset()
  const response = await fetch(gatehouse.url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'one', messages: [] }),
  })
  await response.arrayBuffer()
  return upstream.requests[0]?.headers.authorization?.replace('Bearer ', '')
}

test('by file: created at the first start, rotated while a server serves, which then uses the new key', async () => {
  await start()
  await createGate(gatehouse, 'one', 'openai/gpt-4o')
  // The account's hash key is encrypted at the first start.
  expect(keysInFile()).toHaveLength(1)
  await setKey(OWN)
  const [made = ''] = keysInFile()
  const before = (await masterKey('status')).said
  expect(before).toMatchObject({
    previousIds: [],
    tables: [{ current: 1, previous: 0 }, { current: 0 }, { current: 0 }, { current: 1 }],
  })

  const rotated = await masterKey('rotate', {}, runCli)
  expect(rotated).toMatchObject({
    exitCode: 0,
    said: { outcome: 'rotated', encryptedAnew: 2, previousIds: [before.currentId] },
    table: { current: 1, previous: 0, unopened: 0 },
  })
  expect(keysInFile()).toEqual([expect.any(String), made])
  expect(keysInFile()[0]).not.toBe(made)
  expect(statSync(join(folder.path, 'master.key')).mode & 0o777).toBe(0o600)
  expect(await keyInUse()).toBe(OWN)
  await setKey(`${OWN}-2`)
  expect((await masterKey('status')).table).toMatchObject({ current: 1, previous: 0 })

  // The first key goes with the second rotation, and a restart reads all of it.
  await masterKey('rotate')
  expect(keysInFile()).toHaveLength(2)
  expect(keysInFile()).not.toContain(made)
  expect(await keyInUse()).toBe(`${OWN}-2`)
  await gatehouse.stop()
  await start()
  expect(await keyInUse()).toBe(`${OWN}-2`)
})

test("a webhook's secret is encrypted again too, and signs before and after, without use in between", async () => {
  const secret = 'planted-webhook-secret-0123456789'
  const receiver = startWebhookReceiver(secret)
  try {
    const trusted = { GATEHOUSE_TRUSTED_HOSTS: receiver.host }
    await start(trusted)
    const hook = { url: receiver.url, secret, events: ['budget.exhausted'] }
    const made = await controlPlaneCall(gatehouse, 'POST', '/v1/webhooks', hook)
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as { id: string }
    const isTaken = async () => {
      const tested = await controlPlaneCall(gatehouse, 'POST', `/v1/webhooks/${id}/test`)
      expect(await tested.json()).toMatchObject({ delivered: true })
      return receiver.deliveries.pop()?.isSigned
    }
    await gatehouse.stop()
    await start(trusted)
    // Twice: the key that the server has its secret under in memory is then in no file any more.
    for (const _ of [1, 2]) {
      const rotated = await masterKey('rotate')
      expect(rotated.said).toMatchObject({ outcome: 'rotated', encryptedAnew: 2 })
      expect(rotated.said.tables[1]).toEqual({
        table: 'webhooks',
        current: 1,
        previous: 0,
        unopened: 0,
      })
    }
    expect(await isTaken()).toBeTrue()
    await gatehouse.stop()
    await start(trusted)
    expect(await isTaken()).toBeTrue()
  } finally {
    await receiver.stop()
  }
})

test('owned models are rotated twice beside a server that uses and changes them, and survive a restart', async () => {
  const environment = { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' }
  await start(environment)
  const model = { dialect: 'openai-chat', baseUrl: `${upstream.url}/v1`, upstreamModelId: 'm' }
  const prices = { pricingInput: 1, pricingOutput: 1 }
  const made = await controlPlaneCall(gatehouse, 'POST', '/v1/owned-models', {
    ...model,
    ...prices,
    slug: 'mine',
    credential: OWN,
  })
  expect(made.status).toBe(201)
  await createGate(gatehouse, 'one', 'owned/mine')
  expect(await keyInUse()).toBe(OWN)
  const [first = ''] = keysInFile()
  for (let round = 1; round <= 2; round += 1) {
    const rotated = await masterKey('rotate')
    expect(rotated.said).toMatchObject({ outcome: 'rotated', encryptedAnew: 2 })
    expect(rotated.said.tables[2]).toEqual({
      table: 'owned_models',
      current: 1,
      previous: 0,
      unopened: 0,
    })
    // A change of something else does not bring back what was encrypted under the old key.
    const change = { displayName: `round ${round}` }
    expect(
      (await controlPlaneCall(gatehouse, 'PATCH', '/v1/owned-models/mine', change)).status,
    ).toBe(200)
    expect((await masterKey('status')).said.tables[2]).toMatchObject({ current: 1, previous: 0 })
    expect(await keyInUse()).toBe(OWN)
  }
  expect(keysInFile()).not.toContain(first)
  await gatehouse.stop()
  await start(environment)
  expect(await keyInUse()).toBe(OWN)
})

test('a rotation killed half-way and started again loses nothing', async () => {
  await start()
  await createGate(gatehouse, 'one', 'openai/gpt-4o')
  await setKey(OWN)
  await gatehouse.stop()
  const database = new Database(join(folder.path, 'gatehouse.db'))
  const vault = createVault([new Secret(keysInFile()[0] ?? '')])
  const insert = database.prepare(
    "insert into provider_keys values ('acct_default', ?, ?, '…', 1, 1, 1, null)",
  )
  database.transaction(() => {
    for (let index = 0; index < MANY; index += 1) {
      const sealed = vault.encrypt(
        new Secret(`secret ${index}`),
        `provider-key/acct_default/p${index}`,
      )
      insert.run(`p${index}`, sealed)
    }
  })()
  const begin = vault.encrypt(new Secret('x'), 'x').split('.').slice(0, 2).join('.')
  const left = database.prepare<{ n: number }, [string]>(
    "select count(*) as n from provider_keys where sealed_key like ? || '%'",
  )
  const stillOld = () => left.get(begin)?.n ?? 0
  expect(stillOld()).toBe(MANY + 1)

  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn(boundToTest([...PROGRAM, 'master-key', 'rotate']), {
    env: { PATH, HOME, GATEHOUSE_DATA_DIR: folder.path },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await pollUntil('the first rows under the new key', () => stillOld() < MANY, { intervalMs: 2 })
  child.kill('SIGKILL')
  await child.exited
  const atDeath = stillOld()
  expect(atDeath).toBeGreaterThan(0)
  expect((await masterKey('status')).table).toEqual({
    table: 'provider_keys',
    current: MANY + 1 - atDeath,
    previous: atDeath,
    unopened: 0,
  })
  // The rotation is finished, and the server never noticed.
  await start()
  const [finished, used] = await Promise.all([masterKey('rotate'), keyInUse()])
  expect(used).toBe(OWN)
  expect(finished.said).toMatchObject({ outcome: 'finished', encryptedAnew: atDeath + 1 })
  const current = createVault([new Secret(keysInFile()[0] ?? '')])
  const rows = database
    .query<{ provider: string; sealed_key: string }, []>(
      'select provider, sealed_key from provider_keys',
    )
    .all()
  for (const { provider, sealed_key } of rows) {
    const opened = current.decrypt(sealed_key, `provider-key/acct_default/${provider}`).reveal()
    expect(opened).toBe(provider === 'openai' ? OWN : `secret ${provider.slice(1)}`)
  }
  expect(rows).toHaveLength(MANY + 1)
  database.close()
})

test('one of two rotations at once is refused', async () => {
  await start()
  await setKey(OWN)
  const both = await Promise.all([1, 2].map(() => masterKey('rotate', {}, runCli)))
  for (const { exitCode, stderr } of both)
    if (exitCode !== 0) expect(stderr).toContain('in progress')
  expect(both.map(({ exitCode }) => exitCode)).toContain(0)
  expect((await masterKey('status')).table).toMatchObject({ current: 1, previous: 0, unopened: 0 })
})

test('by environment: refused with a key missing, then in the documented order', async () => {
  await start({ GATEHOUSE_MASTER_KEY: FIRST })
  await createGate(gatehouse, 'one', 'openai/gpt-4o')
  await setKey(OWN)
  expect(keysInFile()).toEqual([])
  // Without the server's variables nothing is touched.
  for (const environment of [{}, { GATEHOUSE_MASTER_KEY: SECOND }]) {
    const refused = await masterKey('rotate', environment, runCli)
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('a missing master key'),
    })
    expect(await masterKey('status', environment)).toMatchObject({
      exitCode: 1,
      table: { unopened: 1 },
    })
  }
  expect(keysInFile()).toEqual([])
  expect((await masterKey('rotate', { GATEHOUSE_MASTER_KEY: FIRST })).said.outcome).toBe('nothing')

  const both = { GATEHOUSE_MASTER_KEY: SECOND, GATEHOUSE_MASTER_KEY_PREVIOUS: FIRST }
  await gatehouse.stop()
  await start(both)
  expect(await keyInUse()).toBe(OWN)
  expect((await masterKey('rotate', both)).said).toMatchObject({
    outcome: 'finished',
    encryptedAnew: 2,
  })
  await gatehouse.stop()
  await start({ GATEHOUSE_MASTER_KEY: SECOND })
  expect(await keyInUse()).toBe(OWN)
})

test('a file with access for others is rotated into a private one', async () => {
  await start()
  await createGate(gatehouse, 'one', 'openai/gpt-4.1')
  await setKey(OWN)
  const path = join(folder.path, 'master.key')
  chmodSync(path, 0o644)
  expect((await masterKey('rotate')).said).toMatchObject({ outcome: 'rotated' })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await keyInUse()).toBe(OWN)
})
