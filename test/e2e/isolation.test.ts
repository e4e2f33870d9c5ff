/**
 * Nobody reaches another account: made from the OpenAPI document, so that a new route is tested by
 * being there. Each one is asked for the things of one account by another, with a key and with a
 * session, and must answer as if there were no such thing.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  exampleBodies,
  exampleQueries,
  fillTenant,
  sharedNames,
  type Tenant,
} from '../support/route-examples.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(120_000)

interface Operation {
  readonly method: string
  readonly path: string
  readonly id: string
  readonly takesBody: boolean
  readonly isPublic: boolean
  readonly isDataPlane: boolean
}

/** An addition to these is a claim that it is safe for everyone. */
const PUBLIC_OPERATIONS = [
  'beginOidc',
  'endOidc',
  'getDocs',
  'getHealth',
  'getInvitationOffer',
  'getMetrics',
  'getOpenApi',
  'getReadiness',
  'getSignInOptions',
  'getWelcome',
  'signIn',
  'signUp',
]

let server: Gatehouse
let operations: readonly Operation[]
let alice: Tenant
let bob: Tenant

beforeAll(async () => {
  server = await startGatehouse({
    sandbox: true,
    environment: { GATEHOUSE_SIGN_UP: 'open', GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' },
  })
  operations = (await readOperations(server.url)).filter(({ id }) => !OTHER_OPERATIONS.includes(id))
  alice = await fillTenant(server.url, 'alice', { authorization: `Bearer ${server.key}` })
  bob = await fillTenant(server.url, 'bob', {})
  // A name is written some seconds after its call.
  for (const { browser } of [alice, bob])
    await pollUntil('the name of the end user', async () => {
      const { name } = (await browser.json('/v1/account/end-users/person-of-many', 200)) as {
        name: string | null
      }
      return name ?? undefined
    })
})
afterAll(() => server.remove())

async function readOperations(url: string): Promise<readonly Operation[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    security: object[]
    paths: Record<
      string,
      Record<
        string,
        { operationId: string; tags: string[]; security?: object[]; requestBody?: object }
      >
    >
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const security = operation.security ?? document.security
      return {
        method: method.toUpperCase(),
        path,
        id: operation.operationId,
        takesBody: operation.requestBody !== undefined,
        isPublic: security.length === 0 || security.some((way) => Object.keys(way).length === 0),
        isDataPlane: operation.tags.includes('Inference'),
      }
    }),
  )
}

function exampleOf(operation: Operation, gateId: string): object | undefined {
  if (!operation.takesBody) return undefined
  const example = exampleBodies[operation.id]
  if (example === undefined)
    throw new Error(
      `test/support/route-examples.ts has no body for the operation '${operation.id}'`,
    )
  return example(gateId)
}

function ownIdOf(tenant: Tenant, operation: Operation): string {
  const id = tenant.ids.get(operation.path) ?? sharedNames.get(operation.path)?.taken
  if (id === undefined)
    throw new Error(`test/support/route-examples.ts makes nothing for the path '${operation.path}'`)
  return id
}

/** A model of a provider is the same for every account, and belongs to none. */
const OTHER_OPERATIONS: readonly string[] = [
  'getProviderModel',
  'setModelPrice',
  'deleteModelPrice',
]

const hasParameter = ({ path }: Operation): boolean => path.includes('{')
const fill = (path: string, id: string): string =>
  path.replace(/\{\w+\}/, encodeURIComponent(id)).replace('{kind}', 'session')

/** With a cookie, with a key, with nothing. */
const ways = {
  session: (tenant: Tenant) => tenant.browser.send.bind(tenant.browser),
  key: (tenant: Tenant) => withHeader(tenant.url, `Bearer ${tenant.key}`),
  nothing: (tenant: Tenant) => withHeader(tenant.url, ''),
  'an unknown key': (tenant: Tenant) => withHeader(tenant.url, `Bearer sk-svc-${'0'.repeat(64)}`),
}

function withHeader(url: string, authorization: string): Browser['send'] {
  const browser = new Browser(url, { authorization, origin: '', 'x-gatehouse-csrf': '' })
  return browser.send.bind(browser)
}

async function ask(
  send: Browser['send'],
  operation: Operation,
  place: { id?: string; gateId: string },
) {
  const body = exampleOf(operation, place.gateId)
  const path = fill(operation.path, place.id ?? '') + (exampleQueries[operation.id] ?? '')
  const response = await send(path, {
    method: operation.method,
    ...(body === undefined ? {} : { body }),
  })
  return { status: response.status, text: await response.text() }
}

/** Everything of a tenant's that can be read. */
async function snapshot(tenant: Tenant): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {}
  for (const operation of operations) {
    if (operation.method !== 'GET' || operation.isPublic || operation.isDataPlane) continue
    const place = {
      gateId: '',
      ...(hasParameter(operation) ? { id: ownIdOf(tenant, operation) } : {}),
    }
    const { status, text } = await ask(ways.session(tenant), operation, place)
    expect({ path: operation.path, status }).toEqual({ path: operation.path, status: 200 })
    // Exports are lines of JSON, or of CSV.
    seen[operation.path] = text
      .split('\n')
      .map((line) => (/^[[{]/.test(line) ? JSON.parse(line) : line))
  }
  return seen
}

test('the public operations are exactly these', () => {
  const found = operations.filter(({ isPublic }) => isPublic).map(({ id }) => id)
  expect(found.sort()).toEqual(PUBLIC_OPERATIONS)
})

test.each(['nothing', 'an unknown key'] as const)('every route is 401 with %s', async (way) => {
  for (const operation of operations) {
    if (operation.isPublic) continue
    const place = {
      gateId: 'alice-gate',
      ...(hasParameter(operation) ? { id: ownIdOf(alice, operation) } : {}),
    }
    const { status, text } = await ask(ways[way](alice), operation, place)
    expect({ id: operation.id, status }).toEqual({ id: operation.id, status: 401 })
    for (const mark of alice.marks)
      expect({ id: operation.id, leaks: text.includes(mark) }).toEqual({
        id: operation.id,
        leaks: false,
      })
  }
})

test.each(['key', 'session'] as const)(
  "with a %s, another account's resources seem absent, and nothing of theirs changes",
  async (way) => {
    const before = await snapshot(alice)
    const send = ways[way](bob)
    for (const operation of operations.filter(hasParameter)) {
      if (sharedNames.has(operation.path)) continue
      const id = ownIdOf(alice, operation)
      const unknown = `unknown-${crypto.randomUUID().slice(0, 8)}`
      const theirs = await ask(send, operation, { id, gateId: 'bob-gate' })
      const nobodys = await ask(send, operation, { id: unknown, gateId: 'bob-gate' })
      expect({
        id: operation.id,
        refused: [401, 403, 404].includes(theirs.status),
        ...theirs,
      }).toMatchObject({
        id: operation.id,
        refused: true,
      })
      expect({ id: operation.id, ...hide(theirs, id) }).toEqual({
        id: operation.id,
        ...hide(nobodys, unknown),
      })
    }
    for (const operation of operations.filter(
      ({ isDataPlane, takesBody }) => isDataPlane && takesBody,
    )) {
      const keyed = ways.key(bob)
      const theirs = await ask(keyed, operation, { gateId: 'alice-gate' })
      const nobodys = await ask(keyed, operation, { gateId: 'nobody-gate' })
      expect({ id: operation.id, status: theirs.status }).toEqual({ id: operation.id, status: 404 })
      expect(hide(theirs, 'alice-gate')).toEqual(hide(nobodys, 'nobody-gate'))
    }
    expect(await snapshot(alice)).toEqual(before)
  },
)

function hide(answer: { status: number; text: string }, id: string) {
  return {
    status: answer.status,
    text: answer.text
      .replaceAll(id, 'ID')
      .replaceAll(/req_[0-9a-f]{32}/g, 'REQUEST')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
  }
}

test.each(['key', 'session'] as const)(
  'with a %s, a name used by another account is as free as an unused one',
  async (way) => {
    const before = await snapshot(alice)
    const send = ways[way](bob)
    const remove = (path: string, id: string) => send(fill(path, id), { method: 'DELETE' })
    for (const operation of operations) {
      const names = sharedNames.get(operation.path)
      if (names === undefined) continue
      await remove(operation.path, names.taken)
      const theirs = await ask(send, operation, { id: names.taken, gateId: 'bob-gate' })
      const nobodys = await ask(send, operation, { id: names.free, gateId: 'bob-gate' })
      expect({ id: operation.id, ...hide(theirs, names.taken) }).toEqual({
        id: operation.id,
        ...hide(nobodys, names.free),
      })
      const makes = operation.method === 'PUT'
      expect({ id: operation.id, status: theirs.status }).toEqual({
        id: operation.id,
        status: makes ? 201 : 404,
      })
      if (makes) for (const name of Object.values(names)) await remove(operation.path, name)
    }
    expect(await snapshot(alice)).toEqual(before)
  },
)

/**
 * Bob called Alice's gate above, and his log shows him what he sent: as the last column of the CSV,
 * or as this member.
 */
function withoutOwnMistakes(text: string): string {
  return text.replaceAll(/,alice-gate\r\n/g, ',\r\n').replaceAll('"sentGateId":"alice-gate"', '')
}

test('an operation without a resource’s name shows and changes nothing of another account', async () => {
  const before = await snapshot(alice)
  const order = operations.filter((operation) => !hasParameter(operation) && !operation.isPublic)
  // Signing out comes last: the session is needed by the others.
  const isLast = ({ id }: Operation) => Number(id === 'signOut')
  for (const way of ['key', 'session'] as const) {
    for (const operation of order.toSorted((a, b) => isLast(a) - isLast(b))) {
      const { status, text } = await ask(ways[way](bob), operation, { gateId: 'bob-gate' })
      const isFine =
        status < 500 &&
        status !== 400 &&
        (status !== 401 || (way === 'session' && operation.isDataPlane))
      expect({ id: operation.id, way, isFine, status, text }).toMatchObject({
        id: operation.id,
        isFine: true,
      })
      const leaked = alice.marks.filter((mark) => withoutOwnMistakes(text).includes(mark))
      expect({ id: operation.id, leaked }).toEqual({ id: operation.id, leaked: [] })
    }
  }
  expect(await snapshot(alice)).toEqual(before)
})
