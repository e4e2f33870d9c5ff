/**
 * Changes of one thing by several at once: an ETag on every answer that holds one, If-Match on every
 * change of one, on both stores. The routes are those of the OpenAPI document.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  type AuditedRoute,
  auditedRoutes,
  openScene,
  type Scene,
  withKey,
} from '../support/audited-routes.ts'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall, createGate, createKey, waitForLogRow } from '../support/control-plane.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { exampleBodies } from '../support/route-examples.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const STALE = '"a-version-of-long-ago"'
const TRUSTING = { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1', GATEHOUSE_OPERATOR_API: 'on' }

interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, { readonly headers?: object }>>
}

type Send = (
  path: string,
  call: { method: string; body?: object; headers?: Record<string, string> },
) => Promise<Response>

function describeStore(start: () => Promise<readonly [Gatehouse, ...Gatehouse[]]>): void {
  let servers: readonly [Gatehouse, ...Gatehouse[]]
  let scene: Scene
  beforeAll(async () => {
    servers = await start()
    scene = await openScene(servers[0])
  })
  afterAll(() => Promise.all(servers.map((server) => server.remove())))

  const send = (
    method: string,
    path: string,
    body?: object,
    ifMatch?: string,
    server = servers[0],
  ) =>
    fetch(server.url + path, {
      method,
      headers: {
        authorization: `Bearer ${servers[0].key}`,
        'content-type': 'application/json',
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const tagOf = async (answer: Response | Promise<Response>) => {
    const { status, headers } = await answer
    expect(status).toBeLessThan(300)
    return headers.get('etag') ?? ''
  }
  const countChanges = async () => {
    const response = await send('GET', '/v1/audit-log?limit=200')
    return ((await response.json()) as { data: object[] }).data.length
  }

  test('every change of a thing by its path takes If-Match: another version changes nothing and says so', async () => {
    const document = (await (await send('GET', '/openapi.json')).json()) as {
      paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>
    }
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
    )
    const checked: string[] = []
    for (const operation of operations) {
      const route = auditedRoutes[operation.operationId]
      if (route === undefined || operation.method === 'post' || route.hasNoVersion) continue
      expect(operation.parameters?.map(({ name }) => name)).toContain('if-match')
      expect(operation.responses).toHaveProperty('412')
      await refuseStale(operation, route)
      checked.push(operation.operationId)
    }
    expect(checked).toContain('updateGate')
    expect(checked.length).toBeGreaterThan(15)
  })

  async function refuseStale(operation: Operation, route: AuditedRoute): Promise<void> {
    const { operationId, requestBody } = operation
    const id = await route.prepare?.(scene)
    const path = operation.path.replace(/\{\w+\}/, encodeURIComponent(id ?? ''))
    const body = requestBody === undefined ? {} : { body: bodyOf(operationId) }
    const call = { method: operation.method.toUpperCase(), ...body }
    const by = senderOf(route)
    const before = await countChanges()
    const refused = await by(path, { ...call, headers: { 'if-match': STALE } })
    const answer = (await refused.json()) as { error: string; message: string }
    expect([operationId, refused.status, answer.error]).toEqual([
      operationId,
      412,
      'precondition_failed',
    ])
    expect(answer.message).toContain('without If-Match to overwrite')
    expect(await countChanges()).toBe(before)
    if (operationId === 'setProviderKey' || operationId === 'setModelPrice') return
    const taken = await by(path, { ...call, headers: { 'if-match': '*' } })
    expect([operationId, taken.ok]).toEqual([operationId, true])
    if (taken.status === 200 && operation.method !== 'delete')
      expect(taken.headers.get('etag')).toMatch(/^"[\w-]{22}"$/)
    await route.leave?.(scene)
  }

  const bodyOf = (operationId: string) => exampleBodies[operationId]?.(scene.gateId) ?? {}
  const senderOf = ({ by }: AuditedRoute): Send => {
    if (by === 'owner') return (path, call) => scene.owner.send(path, call)
    const keyed = new Browser(servers[0].url)
    return (path, call) =>
      keyed.send(path, {
        ...call,
        headers: { ...withKey(servers[0].key), ...call.headers },
      })
  }

  test('what a creation and each reading answer have one ETag, on every node, until a change', async () => {
    const things = [
      ['/v1/gates', 'createGate', 'id', 'updateGate'],
      ['/v1/keys', 'createKey', 'id', 'updateKey'],
      ['/v1/budgets', 'createBudget', 'id', 'updateBudget'],
      ['/v1/webhooks', 'createWebhook', 'id', 'updateWebhook'],
      ['/v1/tags', 'createTag', 'id', 'updateTag'],
      ['/v1/owned-models', 'createOwnedModel', 'slug', 'updateOwnedModel'],
    ] as const
    for (const [path, create, member, update] of things) {
      const made = await send('POST', path, bodyOf(create))
      const first = await tagOf(made)
      const one = `${path}/${((await made.json()) as Record<string, string>)[member]}`
      for (const server of servers)
        for (const method of ['GET', 'HEAD'])
          expect([path, await tagOf(send(method, one, undefined, undefined, server))]).toEqual([
            path,
            first,
          ])
      const changed = await tagOf(send('PATCH', one, bodyOf(update), first))
      expect(changed).not.toBe(first)
      for (const server of servers)
        expect(await tagOf(send('GET', one, undefined, undefined, server))).toBe(changed)
      expect((await send('DELETE', one, undefined, first)).status).toBe(412)
      const deleted = await send('DELETE', one, undefined, changed)
      expect(deleted.status).toBe(path === '/v1/keys' ? 200 : 204)
      expect((await send('DELETE', one, undefined, changed)).status).toBe(404)
    }
  })

  test('a key that is used, and a budget that counts, stay the version that they are', async () => {
    const key = await createKey(servers[0], 'used')
    const budget = await send('POST', '/v1/budgets', {
      gateId: 'demo',
      limitTokens: 100_000,
      period: 'month',
    })
    const { id } = (await budget.clone().json()) as { id: string }
    const before = await tagOf(send('GET', `/v1/keys/${key.id}`))
    const called = await fetch(`${servers[0].url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'x' }] }),
    })
    expect(called.status).toBe(200)
    await waitForLogRow(servers[0], called.headers.get('x-request-id'))
    const shown = await send('GET', `/v1/keys/${key.id}`)
    expect(await shown.clone().json()).not.toMatchObject({ lastUsedAt: null })
    expect(await tagOf(shown)).toBe(before)
    const counted = await send('GET', `/v1/budgets/${id}`)
    expect(await tagOf(counted)).toBe(await tagOf(budget))
  })

  test('of many changes at once that were made of one version, one is made', async () => {
    const gate = await createGate(servers[0], `raced-${crypto.randomUUID()}`, 'sandbox/echo')
    const path = `/v1/gates/${gate}`
    for (let round = 0; round < 3; round += 1) {
      const tag = await tagOf(send('GET', path))
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, writer) => {
          const body = { description: `round ${round}, writer ${writer}` }
          return send('PATCH', path, body, tag, servers[writer % servers.length])
        }),
      )
      const made = answers.find(({ status }) => status === 200)
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(412)])
      const { description = '' } = ((await made?.json()) ?? {}) as { description?: string }
      for (const server of servers) {
        const kept = await send('GET', path, undefined, undefined, server)
        expect(await kept.json()).toMatchObject({ description })
      }
    }
  })

  test('a 412 says who made the last change, and when', async () => {
    const gate = await createGate(servers[0], `told-${crypto.randomUUID()}`, 'sandbox/echo')
    const path = `/v1/gates/${gate}`
    const tag = await tagOf(send('GET', path))
    await (await scene.owner.send(path, { method: 'PATCH', body: { maxRetries: 1 } })).text()
    const refused = await send('PATCH', path, { maxRetries: 2 }, tag)
    expect(refused.status).toBe(412)
    const { message, details } = (await refused.json()) as {
      message: string
      details: { changedBy: { type: string; name: string }; changedAt: string }
    }
    expect(details.changedBy.type).toBe('user')
    expect(details.changedBy.name).toEndWith('@example.test')
    expect(message).toContain(`by the user ${details.changedBy.name}`)
    expect(message).toContain(details.changedAt)
  })

  test('a change that changes nothing is held to If-Match as well', async () => {
    const gate = await createGate(servers[0], `same-${crypto.randomUUID()}`, 'sandbox/echo')
    expect((await send('PATCH', `/v1/gates/${gate}`, {}, STALE)).status).toBe(412)
    expect((await send('PATCH', '/v1/account', {}, STALE)).status).toBe(412)
    const tag = await tagOf(send('GET', '/v1/account'))
    expect((await send('PATCH', '/v1/account', {}, tag)).status).toBe(200)
  })

  test('If-Match takes lists and what a proxy has made weak, and refuses what is no ETag', async () => {
    const gate = await createGate(servers[0], `forms-${crypto.randomUUID()}`, 'sandbox/echo')
    const path = `/v1/gates/${gate}`
    const change = async (toHeader: (tag: string) => string) => {
      const header = toHeader(await tagOf(send('GET', path)))
      return (await send('PATCH', path, { maxRetries: 1 }, header)).status
    }
    expect(await change((tag) => tag)).toBe(200)
    expect(await change((tag) => `W/${tag}`)).toBe(200)
    expect(await change((tag) => `${STALE} ,\t${tag}`)).toBe(200)
    expect(await change((tag) => tag.slice(1, -1))).toBe(400)
    expect(await change((tag) => `${tag} ${tag}x`)).toBe(400)
    expect(await change(() => '""')).toBe(412)
    const refused = await send('PATCH', path, { maxRetries: 1 }, 'abc')
    expect(await refused.json()).toMatchObject({
      error: 'invalid_request',
      message: expect.stringMatching(/^If-Match: must be \* or the ETag/),
    })
  })

  test('what there is not is 404 with If-Match too, and what is not valid is 400', async () => {
    expect((await send('PATCH', '/v1/gates/nobody', { maxRetries: 1 }, STALE)).status).toBe(404)
    expect((await send('PATCH', '/v1/gates/demo', { unheard: 1 }, STALE)).status).toBe(400)
    // Nothing there is no version.
    const put = await send('PUT', '/v1/provider-keys/sandbox-gemini', { key: 'k'.repeat(20) }, '*')
    expect(put.status).toBe(412)
    const keys = await controlPlaneCall(servers[0], 'GET', '/v1/provider-keys')
    expect(await keys.text()).not.toContain('sandbox-gemini')
  })
}

describe('on SQLite', () => {
  describeStore(async () => [await startGatehouse({ sandbox: true, environment: TRUSTING })])
})

describeIf(findPostgres() !== undefined, 'needs Postgres')('on Postgres, with two nodes', () => {
  let postgres: PostgresScene
  afterAll(() => postgres.remove())
  describeStore(async () => {
    postgres = await createPostgresScene()
    const url = await postgres.createDatabase()
    const environment = { ...PATIENT_WITH_DATABASE, ...TRUSTING, DATABASE_URL: url }
    const first = await startGatehouse({ sandbox: true, environment })
    return [first, await startGatehouse({ sandbox: true, environment, key: first.key })]
  })
})
