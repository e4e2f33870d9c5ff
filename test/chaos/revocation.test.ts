/**
 * A revocation, a stop or a change on one node holds on every node once it is answered: also on one
 * that was suspended, or is cut off from Redis, from Postgres or from both. Running streams end.
 * Short by default, once each; GATEHOUSE_CHAOS=long revokes eight hundred times.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Browser } from '../support/browser.ts'
import { IS_LONG, tellProgress } from '../support/chaos-form.ts'
import { askControlPlane, type Cluster, canStartCluster, startCluster } from '../support/cluster.ts'
import { startClusterLoad } from '../support/cluster-load.ts'
import { composeRequest } from '../support/http-bytes.ts'
import { pollUntil } from '../support/poll-until.ts'
import { connectRaw } from '../support/raw-client.ts'
import { describeIf } from '../support/skip-unless.ts'

setDefaultTimeout(IS_LONG ? 1_200_000 : 180_000)

const LONG_ROUNDS = 8
/** The pause of each client between two calls. */
const PAUSE_MS = IS_LONG ? 2 : 10

/** The event at node 2 while node 0 revokes; `times` in each round of the long form. */
const SCENES = [
  { name: 'well', times: 13, harm: () => {} },
  {
    name: 'stopped across the DELETE',
    times: 3,
    harm: (cluster: Cluster) => cluster.node(2).pause(),
  },
  {
    // Messages during the pause do not reach it when it goes on.
    name: 'stopped, and silent to Postgres then',
    times: 2,
    harm: (cluster: Cluster) => {
      cluster.node(2).postgres.freeze()
      cluster.node(2).pause()
    },
  },
  { name: 'cut off from Redis', times: 3, harm: (cluster: Cluster) => cluster.node(2).redis.cut() },
  {
    name: 'cut off from Postgres',
    times: 2,
    harm: (cluster: Cluster) => cluster.node(2).postgres.cut(),
  },
  {
    name: 'silent to Postgres',
    times: 2,
    harm: (cluster: Cluster) => cluster.node(2).postgres.freeze(),
  },
  {
    name: 'cut off from both',
    times: 2,
    harm: (cluster: Cluster) => {
      cluster.node(2).postgres.cut()
      cluster.node(2).redis.cut()
    },
  },
] as const

interface MadeKey {
  readonly id: string
  readonly key: string
}

interface MadeToken {
  readonly id: string
  readonly token: string
}

interface EndReport {
  readonly stopped: boolean
  readonly callsEnded: number
  readonly nodesNotHeard: number
}

/** Something to revoke: its credential, and how it is revoked. */
interface Revocable {
  readonly key: string
  /** Of a signed-in member. */
  readonly browser?: Browser
  readonly method: 'DELETE' | 'POST'
  readonly path: string
  /** Of calls afterwards. */
  readonly status: number
}

const ADDRESS_HEADER = 'x-client-address'
const PASSWORD = 'correct horse battery staple'
/** How long a call may go on after the answer to its revocation. */
const PROMISED_MS = 1_000
const STREAMS_PER_NODE = 2

/** A stream that never ends by itself; each event keeps it busy. */
interface OpenStream {
  readonly node: number
  /** As `performance.now()` has it; undefined while it runs. */
  readonly endedAtMs: number | undefined
  /** At least one event has arrived. */
  readonly hasBegun: boolean
  readonly text: string
}

describeIf(canStartCluster(), 'needs Postgres and redis-server')('three nodes under load', () => {
  let cluster: Cluster
  /** The credential that an upstream got. */
  const seen: string[] = []
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      // Probes of models have no body.
      const asked = await request.text()
      if (asked.includes('"stream":true'))
        return new Response(streamForEver(), { headers: EVENT_STREAM })
      seen.push(request.headers.get('authorization') ?? '')
      return Response.json({ id: 'x', object: 'chat.completion', choices: [], usage: null })
    },
  })
  beforeAll(async () => {
    cluster = await startCluster({
      environment: {
        GATEHOUSE_LEASE_MS: '1000',
        GATEHOUSE_STORE_GRACE_MS: '20000',
        GATEHOUSE_CLIENT_ADDRESS_HEADER: ADDRESS_HEADER,
        GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
        GROQ_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
        OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
        OPENAI_API_KEY: 'planted',
      },
    })
    const targets = [{ model: 'openai/endless' }]
    await askControlPlane(cluster.node(0), 'POST', '/v1/gates', {
      body: { id: 'endless', targets },
      status: 201,
    })
    const body = { email: 'owner@example.test', name: 'Owner', password: PASSWORD }
    const headers = { authorization: `Bearer ${cluster.key}` }
    const owner = new Browser(cluster.node(0).url)
    await owner.json('/v1/auth/sign-up', 201, { method: 'POST', body, headers })
  })
  afterAll(async () => {
    await cluster?.remove()
    await upstream.stop(true)
  })

  /** Every node is well, and has every change. */
  async function whenWell(): Promise<void> {
    cluster.heal()
    for (const node of cluster.nodes)
      await pollUntil(
        `a well node ${node.index}`,
        async () => {
          const { status, checks } = await node.readiness()
          return status === 200 && checks.store?.status === 'ok' && checks.redis?.status === 'ok'
        },
        { timeoutMs: 60_000, intervalMs: 50 },
      )
  }

  interface Answer {
    readonly status: number
    readonly text: string
  }

  async function call(index: number, { key = cluster.key, gate = 'demo' } = {}): Promise<Answer> {
    const answer = await fetch(`${cluster.node(index).url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ gate_id: gate, messages: [{ role: 'user', content: 'hello' }] }),
    })
    return { status: answer.status, text: await answer.text() }
  }

  /** Statuses on all nodes, or what an upstream saw of the key. */
  const statusesOf = async (options: Parameters<typeof call>[1]) =>
    (await Promise.all([0, 1, 2].map((index) => call(index, options)))).map(({ status }) => status)

  test('a change on one node holds on the others once it is answered', async () => {
    await whenWell()
    const ask = <Body>(index: number, method: string, path: string, body?: unknown, status = 200) =>
      askControlPlane<Body>(cluster.node(index), method, path, { body, status })
    for (let round = 0; round < (IS_LONG ? 3 * LONG_ROUNDS : 2); round += 1) {
      const gate = `gate-${round}`
      await ask(0, 'POST', '/v1/gates', { id: gate, targets: [{ model: 'sandbox/echo' }] }, 201)
      expect(await statusesOf({ gate })).toEqual([200, 200, 200])
      await ask(1, 'PATCH', `/v1/gates/${gate}`, { targets: [{ model: 'sandbox/500' }] })
      expect(await statusesOf({ gate })).toEqual([502, 502, 502])
      await ask(2, 'DELETE', `/v1/gates/${gate}`, undefined, 204)
      expect(await statusesOf({ gate })).toEqual([404, 404, 404])

      const slug = `own-${round}`
      const model = {
        slug,
        displayName: 'Own',
        dialect: 'openai-chat',
        baseUrl: `http://127.0.0.1:${upstream.port}/v1`,
        upstreamModelId: 'model',
        credential: 'first-credential',
        pricingInput: 1,
        pricingOutput: 1,
        pricingCachedInput: 1,
      }
      await ask(1, 'POST', '/v1/owned-models', model, 201)
      await ask(2, 'POST', '/v1/gates', { id: slug, targets: [{ model: `owned/${slug}` }] }, 201)
      await ask(0, 'PATCH', `/v1/owned-models/${slug}`, { credential: 'second-credential' })
      seen.length = 0
      await statusesOf({ gate: slug })
      expect(seen).toEqual(Array.from({ length: 3 }, () => 'Bearer second-credential'))
      await ask(0, 'PATCH', `/v1/gates/${slug}`, { targets: [{ model: 'sandbox/echo' }] })
      await ask(1, 'DELETE', `/v1/owned-models/${slug}`, undefined, 204)
      await ask(
        2,
        'POST',
        '/v1/gates',
        { id: `${slug}-again`, targets: [{ model: `owned/${slug}` }] },
        400,
      )

      const paid = `paid-${round}`
      await ask(0, 'POST', '/v1/gates', { id: paid, targets: [{ model: 'groq/model' }] }, 201)
      await ask(0, 'PUT', '/v1/provider-keys/groq', { key: 'the-first-key-of-all' }, 201)
      await ask(1, 'PUT', '/v1/provider-keys/groq', { key: 'the-second-key-of-all' })
      seen.length = 0
      await statusesOf({ gate: paid })
      expect(seen).toEqual(Array.from({ length: 3 }, () => 'Bearer the-second-key-of-all'))
      await ask(2, 'DELETE', '/v1/provider-keys/groq', undefined, 204)
      seen.length = 0
      await statusesOf({ gate: paid })
      expect(seen).toEqual([])
    }
  })

  test('a node cut off from Postgres serves on, and learns revocations from Redis', async () => {
    await whenWell()
    const made = await askControlPlane<MadeKey>(cluster.node(0), 'POST', '/v1/keys', {
      body: { name: 'to be revoked' },
      status: 201,
    })
    cluster.node(2).postgres.cut()
    await pollUntil(
      'the loss',
      async () => (await cluster.node(2).readiness()).checks.store?.status !== 'ok',
    )
    await pollUntil(
      'the end of its lease',
      async () => Number((await cluster.node(2).readiness()).checks.store?.leaseMs) <= 0,
      { timeoutMs: 30_000 },
    )
    expect((await call(2)).status).toBe(200)
    expect((await call(2, { key: made.key })).status).toBe(200)
    await askControlPlane(cluster.node(0), 'DELETE', `/v1/keys/${made.id}`)
    expect((await call(2, { key: made.key })).status).toBe(401)
    expect((await call(2)).status).toBe(200)

    // It cannot read what has changed: neither an old gate nor "no such gate" would be true.
    await askControlPlane(cluster.node(1), 'PATCH', '/v1/gates/demo', {
      body: { displayName: 'Changed' },
    })
    const refused = await call(2)
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('out of date')])
    const { status, checks } = await cluster.node(2).readiness()
    expect([status, checks.store?.status, checks.store?.behind]).toEqual([200, 'grace', 2])
    cluster.heal()
    await whenWell()
    expect((await call(2)).status).toBe(200)
  })

  test('a node cut off from both refuses calls once its lease is over, and reports that', async () => {
    await whenWell()
    cluster.node(2).postgres.cut()
    cluster.node(2).redis.cut()
    await pollUntil(
      'the end of its lease',
      async () => (await cluster.node(2).readiness()).status === 503,
    )
    const refused = await call(2)
    expect([refused.status, refused.text]).toEqual([
      503,
      expect.stringContaining('database cannot be reached'),
    ])
    expect((await cluster.node(2).readiness()).checks.store).toMatchObject({ status: 'away' })
    await whenWell()
    expect((await call(2)).status).toBe(200)
  })

  test('a node that ends takes its leave: no other waits for it', async () => {
    await whenWell()
    expect(await cluster.node(2).stop()).toBe(0)
    expect(await cluster.query('SELECT id FROM nodes')).toHaveLength(2)
    await cluster.node(2).restart()
    await whenWell()
    expect(await cluster.query('SELECT id FROM nodes')).toHaveLength(3)
  })

  test('a node that was killed takes its place again when it starts', async () => {
    await whenWell()
    await cluster.node(2).kill()
    await cluster.node(2).restart()
    await whenWell()
    expect(await cluster.query('SELECT id FROM nodes')).toHaveLength(3)
    expect((await call(2)).status).toBe(200)
  })

  const make = <Made>(path: string, body: object) =>
    askControlPlane<Made>(cluster.node(1), 'POST', path, { body, status: 201 })

  let joined = 0
  const ACTS: Readonly<Record<string, () => Promise<Revocable>>> = {
    'DELETE of a key': async () => {
      const { id, key } = await make<MadeKey>('/v1/keys', { name: 'to be revoked' })
      return { key, method: 'DELETE', path: `/v1/keys/${id}`, status: 401 }
    },
    'DELETE of a token': async () => {
      const { id, token } = await make<MadeToken>('/v1/access-tokens', { name: 'to be revoked' })
      return { key: token, method: 'DELETE', path: `/v1/access-tokens/${id}`, status: 401 }
    },
    'stop of a token': async () => {
      const { id, token } = await make<MadeToken>('/v1/access-tokens', { name: 'to be stopped' })
      return { key: token, method: 'POST', path: `/v1/access-tokens/${id}/stop`, status: 403 }
    },
    'stop of a member': async () => {
      const email = `${crypto.randomUUID()}@example.test`
      const { token: invitation } = await make<{ token: string }>('/v1/invitations', { email })
      // Sign-ups from one address are limited.
      const address = `10.${joined >> 8}.${joined & 255}.1`
      joined += 1
      const browser = new Browser(cluster.node(1).url, { [ADDRESS_HEADER]: address })
      const joining = { email, name: 'Somebody', password: PASSWORD, invitation }
      const { user } = (await browser.json('/v1/auth/sign-up', 201, {
        method: 'POST',
        body: joining,
      })) as { user: { id: string } }
      const owner = { type: 'member', id: user.id }
      const { token } = await make<MadeToken>('/v1/access-tokens', { name: 'of a member', owner })
      return {
        ...{ key: token, browser, method: 'POST', path: `/v1/members/${user.id}/stop` },
        status: 403,
      } as const
    },
  }

  /** Streams of every node, and of the playground, once each has begun. */
  async function beginStreams({ key, browser }: Revocable): Promise<readonly OpenStream[]> {
    const opening = cluster.nodes.flatMap((node) =>
      Array.from({ length: STREAMS_PER_NODE }, () =>
        openStream(node.index, `${node.url}/v1/chat/completions`, {
          authorization: `Bearer ${key}`,
        }),
      ),
    )
    if (browser !== undefined) {
      const { url } = cluster.node(1)
      const headers = { cookie: browser.cookieHeader(), origin: url, 'x-gatehouse-csrf': '1' }
      opening.push(openStream(1, `${url}/v1/playground`, headers))
    }
    const streams = await Promise.all(opening)
    await pollUntil('streams that have begun', () => streams.every(({ hasBegun }) => hasBegun))
    return streams
  }

  for (const { name, times, harm } of SCENES)
    for (const [act, prepare] of Object.entries(ACTS))
      test(`no call that began after a ${act} is accepted, and running ones end: ${name}`, async () => {
        const durationsMs: number[] = []
        let calls = 0
        for (let round = 0; round < (IS_LONG ? times * LONG_ROUNDS : 1); round += 1) {
          await whenWell()
          const made = await prepare()
          const load = startClusterLoad(cluster, {
            key: made.key,
            clients: 6,
            timeoutMs: 10_000,
            pauseMs: PAUSE_MS,
          })
          await pollUntil('calls that are served', () =>
            load.calls.some(({ status }) => status === 200),
          )
          const streams = await beginStreams(made)
          await Bun.sleep(Math.random() * 300)
          harm(cluster)
          await Bun.sleep(Math.random() * 300)
          const askedAtMs = performance.now()
          const { method, path, status: refusal } = made
          const body = method === 'POST' ? { body: { reason: 'A test.' } } : {}
          const report = await askControlPlane<EndReport>(cluster.node(0), method, path, body)
          const answeredAtMs = performance.now()
          durationsMs.push(answeredAtMs - askedAtMs)
          // Some wait at its door when it goes on.
          const waiting = Array.from({ length: 10 }, () => call(2, { key: made.key }))
          await Bun.sleep(20)
          cluster.node(2).resume()
          for (const { status } of await Promise.all(waiting))
            expect([refusal, 503]).toContain(status)
          expect(report.stopped).toBe(true)
          // Node 2 is the harmed one; on a busy machine another node may let its lease end as well.
          const heard = [0, 1, 2].slice(0, 3 - report.nodesNotHeard)
          const leastEnded = STREAMS_PER_NODE * Math.min(2, heard.length)
          expect({ report, isEnough: report.callsEnded >= leastEnded }).toMatchObject({
            isEnough: true,
          })
          const promised = streams.filter(({ node }) => heard.includes(node))
          await pollUntil('the end of the streams', () =>
            promised.every(({ endedAtMs }) => endedAtMs !== undefined),
          )
          const late = promised.filter(
            ({ endedAtMs = Number.POSITIVE_INFINITY }) => endedAtMs > answeredAtMs + PROMISED_MS,
          )
          expect(late).toEqual([])
          const callsAfter = () => load.calls.filter(({ beganAtMs }) => beganAtMs > answeredAtMs)
          await pollUntil('refusals by the nodes that can say so, and calls of the other', () => {
            const seen = callsAfter()
            return (
              seen.some(({ status, node }) => status === refusal && node !== 2) &&
              seen.filter(({ node }) => node === 2).length > 2
            )
          })
          await load.stop()
          const after = callsAfter()
          calls += after.length
          const accepted = after.filter(({ status }) => ![refusal, 503, 0].includes(status))
          expect(accepted).toEqual([])
          cluster.heal()
          await pollUntil(
            'the end of the streams of a node without news',
            () => streams.every(({ endedAtMs }) => endedAtMs !== undefined),
            { timeoutMs: 60_000 },
          )
          const told = act.startsWith('DELETE') ? 'was deleted' : 'stopped by an administrator'
          for (const { text } of streams) expect(text).toContain(told)
        }
        await whenWell()
        tellProgress(`${name}, ${act}: took ${toText(durationsMs)}; ${calls} calls, none late`)
      })
})

const EVENT_STREAM = { 'content-type': 'text/event-stream' }
const EVENT_EVERY_MS = 20

function streamForEver(): ReadableStream<Uint8Array> {
  const choices = [{ index: 0, delta: { content: 'hi' }, finish_reason: null }]
  const event = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices }
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)
  let isLeft = false
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(EVENT_EVERY_MS)
      if (!isLeft) controller.enqueue(bytes)
    },
    cancel() {
      isLeft = true
    },
  })
}

/** Over a socket, because `fetch` discards unread events when an answer is cut behind them. */
async function openStream(
  node: number,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<OpenStream> {
  const connection = await connectRaw(url)
  let endedAtMs: number | undefined
  const end = () => {
    endedAtMs ??= performance.now()
  }
  connection.socket.once('end', end).once('close', end)
  const { host, pathname } = new URL(url)
  connection.send(
    composeRequest({
      path: pathname,
      headers: { host, 'content-type': 'application/json', connection: 'close', ...headers },
      body: JSON.stringify({
        gate_id: 'endless',
        stream: true,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    }),
  )
  return {
    node,
    get endedAtMs() {
      return endedAtMs
    },
    get hasBegun() {
      return connection.received().includes('data: ')
    },
    // The last events say why a stream ended.
    get text() {
      return connection.received().subarray(-2_000).toString()
    },
  }
}

function toText(durationsMs: number[]): string {
  const sorted = durationsMs.toSorted((a, b) => a - b).map((ms) => Math.round(ms))
  return `${sorted[Math.floor(sorted.length / 2)]} ms in the middle, ${sorted[0]} to ${sorted.at(-1)} ms, ${sorted.length} times`
}
