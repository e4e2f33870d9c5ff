/**
 * Limits, keys and the log when a machine's clock is set or the machine slept: whole gateways in
 * this process.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { findRedis, startRedis } from '../../test/support/redis-server.ts'
import { testIf } from '../../test/support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { readSettings } from '../config/settings.ts'
import { generateApiKey } from '../core/api-key.ts'
import { systemClock, type Timekeeper } from '../core/clock.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import type { PlanDefinition } from '../core/plan.ts'
import { Secret } from '../core/secret.ts'
import { createLog, type LeveledLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const USED = 30
const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const key = generateApiKey().reveal()

/** The machine's clock, set by hand: what is measured goes on as ever. */
class SetClock implements Timekeeper {
  readonly elapsed = systemClock.elapsed
  readonly after = systemClock.after
  readonly every = systemClock.every
  #aheadMs = 0

  now(): number {
    return systemClock.now() + this.#aheadMs
  }

  set(toMs: number): void {
    this.#aheadMs = toMs - systemClock.now()
  }

  jump(ms: number): void {
    this.#aheadMs += ms
  }
}

interface Node {
  readonly gatehouse: Gatehouse
  readonly clock: SetClock
}

let folder: TemporaryFolder
let upstream: ReturnType<typeof startUpstream>
let onAsked: () => void = () => {}
const nodes: Node[] = []

function startUpstream() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      onAsked()
      const message = { role: 'assistant', content: 'hi' }
      const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: USED }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices,
        usage,
      })
    },
  })
}

beforeEach(async () => {
  folder = await createTemporaryFolder()
  upstream = startUpstream()
  onAsked = () => {}
})
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.gatehouse.close()
  await upstream.stop(true)
  await folder.remove()
})

interface Start {
  readonly name?: string
  readonly database?: TestDatabase | undefined
  readonly environment?: Record<string, string>
  readonly limits?: PlanDefinition
  readonly clock?: SetClock
  readonly log?: LeveledLog
}

async function start({
  name = 'one',
  database,
  environment,
  limits = {},
  clock = new SetClock(),
  log = createLog('silent'),
}: Start = {}) {
  const location = database?.location
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: join(folder.path, name),
    GATEHOUSE_SHIP_INTERVAL_MS: '20',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    OPENAI_API_KEY: 'planted',
    ...(location !== undefined && 'postgres' in location
      ? { DATABASE_URL: location.postgres.url.reveal() }
      : {}),
    ...environment,
  })
  const plans = { default: 'test', definitions: { test: limits } }
  const gatehouse = await composeGatehouse({ settings, log, plans, clock })
  const node = { gatehouse, clock }
  nodes.push(node)
  if (gatehouse.gates.find(DEFAULT_ACCOUNT, 'demo' as GateId) === undefined) {
    await gatehouse.keys.import({ accountId: DEFAULT_ACCOUNT, name: 'test', key: new Secret(key) })
    await gatehouse.gates.create(DEFAULT_ACCOUNT, {
      id: 'demo' as GateId,
      description: '',
      targets: [{ model: 'openai/m' }],
      timeoutMs: null,
      maxRetries: 0,
    })
  }
  return node
}

async function stop(node: Node): Promise<void> {
  nodes.splice(nodes.indexOf(node), 1)
  await node.gatehouse.close()
}

async function send(
  { gatehouse }: Node,
  path: string,
  { body, bearer = key }: { body?: object; bearer?: string } = {},
) {
  return await gatehouse.handle(
    new Request(`http://gatehouse.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
}

async function chat(node: Node, bearer = key): Promise<number> {
  const messages = [{ role: 'user', content: 'hi' }]
  const answer = await send(node, '/v1/chat/completions', {
    body: { model: 'demo', messages },
    bearer,
  })
  await answer.text()
  return answer.status
}

async function read<Body>(node: Node, path: string): Promise<Body> {
  return (await (await send(node, path)).json()) as Body
}

async function usedOf(node: Node): Promise<number> {
  return (await read<{ quota: { tokens: { used: number } } }>(node, '/v1/account')).quota.tokens
    .used
}

async function lastUseOf(node: Node): Promise<number> {
  const { data } = await read<{ data: readonly { lastUsedAt: string }[] }>(node, '/v1/keys')
  return Date.parse(data[0]?.lastUsedAt ?? '')
}

interface LoggedCall {
  readonly startedAt: string
  readonly durationMs: number
}

async function logOf(node: Node, calls: number): Promise<readonly LoggedCall[]> {
  return await pollUntil('the calls in the log', async () => {
    const { data } = await read<{ data: readonly LoggedCall[] }>(node, '/v1/logs')
    return data.length >= calls ? data : undefined
  })
}

/** Within the last hour of a month, which is the last of a day and, here, the first of a week. */
const LATE_IN_NOVEMBER = Date.parse('2026-11-30T23:30:00Z')

const JUMPS: readonly (readonly [string, number])[] = [
  ['an hour ahead', HOUR_MS],
  ['a year ahead', YEAR_MS],
  ['an hour back', -HOUR_MS],
  ['a year back', -YEAR_MS],
]

describe.each(JUMPS)('a clock that jumps %s', (_, jumpMs) => {
  test('is followed: the log has the new time, and the duration of a running call is unchanged', async () => {
    const node = await start()
    onAsked = () => node.clock.jump(jumpMs)
    expect(await chat(node)).toBe(200)
    onAsked = () => {}
    const before = node.clock.now()
    expect(await chat(node)).toBe(200)
    const calls = await logOf(node, 2)
    const times = calls
      .map(({ startedAt }) => Date.parse(startedAt))
      .toSorted((one, other) => one - other)
    expect(times.some((time) => time >= before && time <= node.clock.now())).toBeTrue()
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(Math.abs(jumpMs) - HOUR_MS / 2)
    for (const { durationMs } of calls) expect(durationMs).toBeWithin(0, HOUR_MS / 2)
  })

  test('gives no caller another minute', async () => {
    const node = await start({ limits: { requestsPerMinute: 2 } })
    expect([await chat(node), await chat(node), await chat(node)]).toEqual([200, 200, 429])
    node.clock.jump(jumpMs)
    expect(await chat(node)).toBe(429)
    node.clock.jump(-jumpMs)
    expect(await chat(node)).toBe(429)
  })

  test('and is set right again keeps the quota of the month', async () => {
    const node = await start({ limits: { monthlyTokens: 2 * USED } })
    node.clock.set(LATE_IN_NOVEMBER + (jumpMs < 0 ? HOUR_MS : 0))
    expect([await chat(node), await chat(node), await chat(node)]).toEqual([200, 200, 429])
    node.clock.jump(jumpMs)
    // Each of these jumps leads into another month.
    expect([await chat(node), await usedOf(node)]).toEqual([200, USED])
    node.clock.jump(-jumpMs)
    expect([await chat(node), await usedOf(node)]).toEqual([429, 2 * USED])
  })

  test('before a start does not evade a quota once it is set right', async () => {
    const limits = { monthlyTokens: 2 * USED }
    const clock = new SetClock()
    clock.set(LATE_IN_NOVEMBER + (jumpMs < 0 ? HOUR_MS : 0))
    const first = await start({ limits, clock })
    expect([await chat(first), await chat(first), await chat(first)]).toEqual([200, 200, 429])
    await stop(first)
    clock.jump(jumpMs)
    const second = await start({ limits, clock })
    expect(await chat(second)).toBe(200)
    clock.jump(-jumpMs)
    await pollUntil(
      'what was used in the true month',
      async () => (await usedOf(second)) >= 2 * USED,
    )
    expect([await chat(second), await usedOf(second)]).toEqual([429, 2 * USED])
  })

  test('revives an expired key, or ends one, for as long as it is wrong and no longer', async () => {
    const node = await start()
    const made = await send(node, '/v1/keys', {
      body: { name: 'short', expiresAt: new Date(node.clock.now() + 30 * 60_000).toISOString() },
    })
    const { key: short } = (await made.json()) as { key: string }
    expect(await chat(node, short)).toBe(200)
    node.clock.jump(jumpMs)
    expect(await chat(node, short)).toBe(jumpMs > 0 ? 401 : 200)
    node.clock.jump(-jumpMs)
    expect(await chat(node, short)).toBe(200)
    node.clock.jump(31 * 60_000)
    expect(await chat(node, short)).toBe(401)
  })
})

describe.each(databases)('a key’s last use on $name', (database) => {
  test('is true again once a clock that was ahead is right, also for the next process', async () => {
    const place = await database.create()
    try {
      const clock = new SetClock()
      const first = await start({ database: place, clock })
      clock.jump(YEAR_MS)
      expect(await chat(first)).toBe(200)
      clock.jump(-YEAR_MS)
      const rightFrom = clock.now()
      expect(await chat(first)).toBe(200)
      expect(await lastUseOf(first)).toBeWithin(rightFrom, clock.now() + 1)
      await stop(first)
      const next = await start({ database: place, clock })
      expect(await lastUseOf(next)).toBeWithin(rightFrom, clock.now() + 1)
      await stop(next)
    } finally {
      await place.remove()
    }
  })
})

test('a changed clock is logged once, with both times', async () => {
  const warnings: object[] = []
  const log = {
    level: 'info',
    ...{ info: () => {}, error: () => {} },
    warn: (fields: object) => void warnings.push(fields),
  }
  const node = await start({ log })
  node.clock.jump(-HOUR_MS)
  await pollUntil('the warning', async () => (warnings.length > 0 ? true : undefined))
  expect(warnings).toMatchObject([{ seconds: -3600 }])
  const [{ from, to }] = warnings as unknown as readonly [{ from: string; to: string }]
  // The clock on the wall and the steady one are read one after the other, and the machine may move
  // the first slowly: both are milliseconds.
  expect(Math.abs(Date.parse(from) - Date.parse(to) - HOUR_MS)).toBeLessThan(1_000)
  node.clock.jump(HOUR_MS)
  await pollUntil('the second warning', async () => (warnings.length > 1 ? true : undefined))
  expect(warnings).toMatchObject([{ seconds: -3600 }, { seconds: 3600 }])
})

const postgres = databases.find(({ name }) => name === 'Postgres')

interface Case {
  readonly name: string
  readonly runs: boolean
  readonly hasRedis: boolean
}

const CASES: readonly Case[] = [
  { name: 'counting for themselves', runs: true, hasRedis: false },
  { name: 'counting together', runs: findRedis() !== undefined, hasRedis: true },
]

for (const { name, runs, hasRedis } of CASES) {
  testIf(postgres !== undefined && runs, 'needs Postgres, or redis-server')(
    `a budget created on a node with a fast clock limits at once on all nodes, ${name}`,
    async () => {
      const database = await postgres?.create()
      const redis = hasRedis ? await startRedis() : undefined
      try {
        const environment: Record<string, string> =
          redis === undefined ? {} : { REDIS_URL: redis.url }
        const right = await start({ name: 'right', database, environment })
        const behind = await start({ name: 'behind', database, environment })
        behind.clock.jump(-HOUR_MS)
        const ahead = await start({ name: 'ahead', database, environment })
        ahead.clock.jump(HOUR_MS)
        const body = { name: 'small', gateId: 'demo', limitTokens: USED, period: 'total' }
        const made = await send(ahead, '/v1/budgets', { body })
        expect(made.status).toBe(201)
        const { id } = (await made.json()) as { id: string }
        expect(await chat(right)).toBe(200)
        expect(await chat(right)).toBe(429)
        // A node that shares counters reports a call before it is in the log.
        await logOf(right, 1)
        // One that counts for itself answers a call, or has read of the first node's by then.
        const status = hasRedis ? 429 : await chat(behind)
        expect([200, 429]).toContain(status)
        expect(await chat(behind)).toBe(429)
        for (const node of [right, behind])
          expect(await read<object>(node, `/v1/budgets/${id}`)).toMatchObject({
            used: { tokens: USED },
          })
        // It counts on after a restart, by what the ledger holds since it was made.
        await logOf(right, status === 200 ? 2 : 1)
        await stop(right)
        const again = await start({ name: 'right', database, environment, clock: right.clock })
        expect(await chat(again)).toBe(429)
      } finally {
        for (const node of [...nodes]) await stop(node)
        await redis?.remove()
        await database?.remove()
      }
    },
  )
}
