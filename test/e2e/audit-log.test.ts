/**
 * Every change leaves its row: made from the OpenAPI document, so that a new route is tested by
 * being there.
 */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AuditedRoute,
  auditedRoutes,
  openScene,
  type Scene,
  unauditedRoutes,
  withKey,
} from '../support/audited-routes.ts'
import { Browser } from '../support/browser.ts'
import { IS_LONG } from '../support/chaos-form.ts'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { exampleBodies } from '../support/route-examples.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

interface Entry {
  readonly id: string
  readonly at: string
  readonly actor: { readonly type: string; readonly id: string; readonly name: string | null }
  readonly action: string
  readonly resourceType: string
  readonly resourceId: string
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
  readonly requestId: string | null
  readonly clientAddress: string | null
}

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly takesBody: boolean
}

const READING = new Set(['get', 'head', 'options'])

let server: Gatehouse
beforeAll(async () => {
  server = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1', GATEHOUSE_OPERATOR_API: 'on' },
  })
})
afterAll(() => server.remove())

async function listEntries(query = ''): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  let cursor: string | null = null
  do {
    const page: string = cursor === null ? '' : `&cursor=${cursor}`
    const response = await controlPlaneCall(server, 'GET', `/v1/audit-log?limit=200${query}${page}`)
    expect(response.status).toBe(200)
    const answer = (await response.json()) as { data: Entry[]; nextCursor: string | null }
    entries.push(...answer.data)
    cursor = answer.nextCursor
  } while (cursor !== null)
  return entries
}

/** Operations that may change something, except calls for inference. */
async function findChangingOperations(): Promise<readonly Operation[]> {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<
      string,
      Record<string, { operationId: string; tags: string[]; requestBody?: object }>
    >
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method, { tags }]) => !READING.has(method) && !tags.includes('Inference'))
      .map(([method, { operationId, requestBody }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        path,
        takesBody: requestBody !== undefined,
      })),
  )
}

test('every operation with changes is audited or has a reason, and no other is listed', async () => {
  const listed = [...Object.keys(auditedRoutes), ...Object.keys(unauditedRoutes)]
  const found = (await findChangingOperations()).map(({ id }) => id)
  expect(listed.toSorted()).toEqual(found.toSorted())
})

test('each change by HTTP leaves exactly one row, and a refused one leaves no row', async () => {
  const scene = await openScene(server)
  for (const operation of await findChangingOperations()) {
    const route = auditedRoutes[operation.id]
    if (route !== undefined) await checkRoute(operation, route, scene)
  }
})

async function checkRoute(operation: Operation, route: AuditedRoute, scene: Scene): Promise<void> {
  const { id: operationId, method, takesBody } = operation
  const id = await route.prepare?.(scene)
  const body = takesBody
    ? await (route.body ?? exampleBodies[operationId])?.(scene.gateId, scene)
    : undefined
  const ask = async (of: string, sent?: object) => {
    const path = operation.path.replace(/\{\w+\}/, encodeURIComponent(of))
    const call = { method, ...(sent === undefined ? {} : { body: sent }) }
    return await (await senderOf(scene, route.by ?? 'key')).send(path, call)
  }
  /** For nobody, or with an unknown parameter where the path names nothing. */
  const askAmiss = async () =>
    operation.path.includes('{')
      ? await ask('nobody')
      : await (await senderOf(scene, route.by ?? 'key')).send(`${operation.path}?unheard=1`, {
          method,
        })
  const count = (await listEntries()).length

  const refused = await (takesBody ? ask(id ?? '', { unheard: 1 }) : askAmiss())
  await refused.body?.cancel()
  expect({ operationId, isRefused: refused.status >= 400 }).toEqual({
    operationId,
    isRefused: true,
  })
  expect({ operationId, rows: (await listEntries()).length }).toEqual({ operationId, rows: count })

  const response = await ask(id ?? '', body)
  const text = await response.text()
  expect({ operationId, isFine: response.ok, text }).toMatchObject({ operationId, isFine: true })
  const answer = text === '' ? null : (JSON.parse(text) as Record<string, unknown>)
  const entries = await listEntries()
  const [entry] = entries
  expect({ operationId, rows: entries.length }).toEqual({ operationId, rows: count + 1 })
  const isKey = (route.by ?? 'key') === 'key'
  expect({ operationId, ...entry }).toMatchObject({
    operationId,
    action: route.action,
    resourceType: route.action.split('.')[0] ?? '',
    resourceId: route.idOf?.(answer ?? {}, id ?? '') ?? String(id ?? answer?.id ?? answer?.slug),
    actor: {
      type: isKey ? 'key' : 'user',
      name: isKey ? 'first key' : expect.stringContaining('@'),
    },
    requestId: response.headers.get('x-request-id') ?? '',
    clientAddress: '127.0.0.1',
  })
  const verb = route.action.split('.')[1] ?? ''
  expect({ operationId, isNew: entry?.before === null, isGone: entry?.after === null }).toEqual({
    operationId,
    isNew: ['create', 'import', 'set-password'].includes(verb),
    isGone: ['delete', 'erase', 'set-password'].includes(verb),
  })
  // The log has exactly the answered changes.
  if (answer !== null && entry?.after && route.idOf === undefined)
    expect(answer).toMatchObject(entry.after)
  await route.leave?.(scene)
}

async function senderOf(scene: Scene, by: 'key' | 'owner' | 'visitor'): Promise<Browser> {
  if (by === 'owner') return scene.owner
  return by === 'visitor' ? new Browser(server.url) : new Browser(server.url, withKey(server.key))
}

const run = (words: readonly string[], environment: Record<string, string>, input = '') =>
  runCliInProcess(words, { environment, input })

test('the command line shows changes with their actors, as a table and as JSON, with filters', async () => {
  const environment = { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key }
  await createGate(server, 'shown', 'sandbox/echo')
  await (
    await controlPlaneCall(server, 'PATCH', '/v1/gates/shown', { displayName: 'Shown' })
  ).body?.cancel()
  const table = await run(['audit', '--resource-id', 'shown'], environment)
  expect(table.exitCode).toBe(0)
  expect(table.stdout).toMatch(/^AT +ACTOR +ACTION +WHAT +CHANGED\n/)
  expect(table.stdout).toMatch(/ key first key +gate\.update +shown +displayName\n/)
  const filters = [
    '--action',
    'gate.update',
    '--resource-type',
    'gate',
    '--from',
    '2020-01-01',
    '--limit',
    '1',
  ]
  const json = await run(['audit', '--json', ...filters], environment)
  expect(JSON.parse(json.stdout)).toMatchObject([
    { before: { displayName: 'shown' }, after: { displayName: 'Shown' } },
  ])
  const wrong = await run(['audit', '--from', 'yesterday'], environment)
  expect(wrong).toMatchObject({ exitCode: 1, stdout: '' })
  expect(wrong.stderr).toContain('from: must be a time')
})

test('changes on the local data folder, and rotations of the master key, have the operator as actor', async () => {
  const folder = await createTemporaryFolder()
  const environment = { GATEHOUSE_DATA_DIR: folder.path }
  const imported = `legacy_iiii${crypto.randomUUID()}`
  const provider = `sk-planted-${'p'.repeat(30)}-9f3c`
  try {
    const created = await run(['keys', 'create', 'ci'], environment)
    await run(['keys', 'import', 'old app'], environment, imported)
    await run(['provider-keys', 'set', 'sandbox'], environment, provider)
    expect((await run(['master-key', 'rotate'], environment)).exitCode).toBe(0)
    const { stdout } = await run(['audit', '--json'], environment)
    const entries = JSON.parse(stdout) as Entry[]
    expect(entries.map(({ action }) => action)).toEqual([
      'master-key.rotate',
      'provider-key.create',
      'key.import',
      'key.create',
    ])
    for (const { actor, clientAddress } of entries) {
      expect(actor).toEqual({ type: 'operator', id: 'local', name: null })
      expect(clientAddress).toBeNull()
    }
    expect(entries[0]?.after).toEqual({
      currentId: entries[0]?.resourceId,
      previousIds: [entries[0]?.before?.currentId],
    })
    expect(entries[2]?.after).toMatchObject({ name: 'old app', maskedPrefix: 'legacy_iiii…' })
    const masterKeys =
      readFileSync(join(folder.path, 'master.key'), 'utf8').match(/^[0-9a-f]{64}$/gm) ?? []
    expect(masterKeys).toHaveLength(2)
    for (const secret of [created.stdout.trim(), imported, provider, ...masterKeys])
      expect(stdout.includes(secret)).toBeFalse()
  } finally {
    await folder.remove()
  }
})

test("the operator's invitations and passwords are recorded, even beside a running server", async () => {
  const environment = { GATEHOUSE_DATA_DIR: server.dataFolder }
  const email = 'invited-by-the-operator@example.test'
  const [token] =
    (await run(['users', 'invite', email], environment)).stdout.match(/inv-[0-9a-f]{64}/) ?? []
  const body = {
    email,
    name: 'Invited',
    password: 'correct horse battery staple',
    invitation: token,
  }
  await new Browser(server.url).json('/v1/auth/sign-up', 201, { method: 'POST', body })
  const next = 'quite another passphrase'
  expect((await run(['users', 'reset-password', email], environment, next)).exitCode).toBe(0)
  const entries = await listEntries()
  expect(entries.slice(0, 3)).toMatchObject([
    {
      action: 'user.set-password',
      actor: { type: 'operator' },
      before: null,
      after: null,
      requestId: null,
    },
    { action: 'member.create', actor: { type: 'user', name: email }, after: { email } },
    {
      action: 'invitation.create',
      actor: { type: 'operator' },
      after: { email, invitedBy: 'command-line' },
    },
  ])
  expect(entries[0]?.resourceId).toBe(entries[1]?.resourceId ?? '')
  const text = JSON.stringify(entries)
  for (const secret of [token ?? 'none', body.password, next])
    expect(text.includes(secret)).toBeFalse()
})

test('planted secrets are absent from the table, the answers and the database files', async () => {
  const planted = {
    made: '',
    imported: `legacy_${crypto.randomUUID()}${crypto.randomUUID()}`,
    provider: `sk-planted-${crypto.randomUUID()}`,
    replaced: `sk-replaced-${crypto.randomUUID()}`,
  }
  const send = (method: string, path: string, body?: object) =>
    controlPlaneCall(server, method, path, body)
  planted.made = (
    (await (await send('POST', '/v1/keys', { name: 'made' })).json()) as { key: string }
  ).key
  const { id } = (await (
    await send('POST', '/v1/keys/import', { name: 'imported', key: planted.imported })
  ).json()) as { id: string }
  await send('PUT', '/v1/provider-keys/openai', { key: planted.provider })
  await send('PUT', '/v1/provider-keys/openai', { key: planted.replaced })
  await send('PATCH', '/v1/provider-keys/openai', { active: false })
  await send('DELETE', '/v1/provider-keys/openai')
  await send('DELETE', `/v1/keys/${id}`)
  const secrets = [...Object.values(planted), server.key]
  const hashes = secrets.map((secret) =>
    new Bun.CryptoHasher('sha256').update(secret).digest('hex'),
  )
  const answers = JSON.stringify(await listEntries())
  expect(answers).toContain('provider-key.delete')
  const database = new Database(join(server.dataFolder, 'gatehouse.db'), { readonly: true })
  const table = JSON.stringify(database.query('select * from audit_log').all())
  database.close()
  for (const text of [answers, table]) {
    for (const secret of [...secrets, ...hashes]) expect(text.includes(secret)).toBeFalse()
  }
  for (const name of readdirSync(server.dataFolder)) {
    if (!name.startsWith('gatehouse.db')) continue
    const bytes = readFileSync(join(server.dataFolder, name))
    for (const secret of secrets)
      expect({ name, holds: bytes.includes(secret) }).toEqual({ name, holds: false })
  }
})

const ROUNDS = IS_LONG ? 8 : 4
const CLIENTS = 6

test(`SIGKILL during changes, ${ROUNDS} times: the rows, replayed, give exactly the stored state`, async () => {
  const folder = await createTemporaryFolder()
  const key = createBootstrapKey()
  const acknowledged = new Set<string>()
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const killed = await startGatehouse({ dataFolder: folder.path, key })
      const clients = Array.from({ length: CLIENTS }, (_, client) =>
        change(killed, `${round}-${client}`, acknowledged),
      )
      const before = acknowledged.size
      await pollUntil('the first changes', () => acknowledged.size > before + CLIENTS)
      await Bun.sleep(Math.random() * 400)
      await killed.kill()
      await Promise.all(clients)
    }
    const last = await startGatehouse({ dataFolder: folder.path, key })
    await last.stop()
    assertReplayable(join(folder.path, 'gatehouse.db'), acknowledged)
    expect(acknowledged.size).toBeGreaterThan(ROUNDS * CLIENTS)
  } finally {
    await folder.remove()
  }
}, 300_000)

/** Makes, changes and deletes gates and keys until nobody answers. */
async function change(
  { url, key }: Gatehouse,
  name: string,
  acknowledged: Set<string>,
): Promise<void> {
  const send = async (method: string, path: string, body?: object) => {
    const response = await controlPlaneCall({ url, key }, method, path, body)
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    acknowledged.add(response.headers.get('x-request-id') ?? '')
    return (text === '' ? {} : JSON.parse(text)) as { id: string }
  }
  try {
    for (let turn = 0; ; turn += 1) {
      const { id } = await send('POST', '/v1/gates', {
        id: `${name}-${turn}`,
        targets: [{ model: 'openai/x' }],
      })
      await send('PATCH', `/v1/gates/${id}`, { displayName: `changed ${turn}` })
      const made = await send('POST', '/v1/keys', { name: `${name}-${turn}` })
      if (turn % 2 === 0) {
        await send('DELETE', `/v1/gates/${id}`)
        await send('DELETE', `/v1/keys/${made.id}`)
      }
    }
  } catch (error) {
    // The server was killed; a refusal is no part of it.
    if (error instanceof Error && /^[A-Z]+ \/v1/.test(error.message)) throw error
  }
}

function assertReplayable(path: string, acknowledged: ReadonlySet<string>): void {
  const database = new Database(path, { readonly: true })
  const entries = database
    .query<
      {
        resource_type: string
        resource_id: string
        after_json: string | null
        request_id: string | null
      },
      []
    >('select * from audit_log order by at, id')
    .all()
  const replayed = new Map<string, string>()
  for (const { resource_type, resource_id, after_json } of entries) {
    const place = `${resource_type} ${resource_id}`
    if (after_json === null) replayed.delete(place)
    else
      replayed.set(
        place,
        String(JSON.parse(after_json)[resource_type === 'gate' ? 'displayName' : 'name']),
      )
  }
  const present = database
    .query<{ place: string; name: string }, []>(
      `select 'gate ' || id as place, display_name as name from gates
       union all select 'key ' || id, name from api_keys`,
    )
    .all()
  database.close()
  expect(Object.fromEntries(replayed)).toEqual(
    Object.fromEntries(present.map(({ place, name }) => [place, name])),
  )
  const written = new Set(entries.map(({ request_id }) => request_id))
  for (const requestId of acknowledged) expect(written.has(requestId)).toBeTrue()
  expect(written.size).toBeLessThanOrEqual(acknowledged.size + 1 + ROUNDS * CLIENTS)
}
