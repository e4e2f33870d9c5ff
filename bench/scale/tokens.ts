/**
 * One account with `size` access tokens, over the API of a node: start, memory, creating, listing
 * by pages, changing, calling and revoking.
 */
import { NO_RULES } from '../../src/core/access-token.ts'
import { hashApiKey, maskApiKey } from '../../src/core/api-key.ts'
import { createKeyId, DEFAULT_ACCOUNT, type GateId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { toKeyRow } from '../../src/store/resources/keys.ts'
import { privateBytes } from '../../test/support/process-figures.ts'
import { buildProgram, PROGRAM } from '../program.ts'
import { createProgress } from './progress.ts'
import { BOTH, type Scenario } from './scenario.ts'
import { callNode, KEY, keyRecord, seedGate, withNode } from './start-node.ts'
import { type DatabaseName, type Place, useStore, withPlace } from './with-store.ts'

const TOKENS_AT_ONCE = 500
const TIMES = 200
const AT_ONCE = 16
const PAGE = 200
/** After this time the collector has freed the memory that only the start needed. */
const SETTLES_MS = 5_000
const LOOK_EVERY_MS = 2

export const scenario: Scenario = {
  title: "one account's access tokens, over the API, tokens",
  sizes: [10_000, 100_000],
  quickSizes: [1_000, 10_000],
  stores: BOTH,
  bars: {
    'ready after, ms': { type: 'most', most: 1_500 },
    'memory a token, bytes': { type: 'most', most: 1_350 },
    'a page, ms': { type: 'ratio', most: 2 },
    'a page in the middle, ms': { type: 'ratio', most: 2 },
    'a call, ms': { type: 'ratio', most: 1.5 },
  },
  prepare: buildProgram,
  async run(size, name) {
    const empty = await measure(name, 0)
    const filled = await measure(name, size)
    return {
      ...filled.figures,
      'memory a token, bytes': (filled.bytes - empty.bytes) / size,
    }
  },
}

async function measure(name: DatabaseName, size: number) {
  const work = async (place: Place) => {
    await useStore(place.location, (store) => seedTokens(store, size))
    const options = {
      key: KEY,
      program: PROGRAM,
      environment: { GATEHOUSE_MAX_KEYS: '1000000', GATEHOUSE_LOG_LEVEL: 'error' },
    }
    return await withNode(place, options, async ({ url, pid }, startedAt) => {
      while (!(await fetch(`${url}/readyz`)).ok) await Bun.sleep(LOOK_EVERY_MS)
      const readyMs = performance.now() - startedAt
      await Bun.sleep(SETTLES_MS)
      const bytes = await privateBytes(pid)
      if (size === 0) return { bytes, figures: {} }
      const figures = { 'ready after, ms': readyMs, ...(await measureApi(url, size)) }
      return {
        bytes,
        figures: { ...figures, 'memory at the end, MB': (await privateBytes(pid)) / 1e6 },
      }
    })
  }
  return await withPlace(name, work, { isDurable: false })
}

async function measureApi(url: string, size: number) {
  const ask = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as Body
  }
  interface Made {
    readonly id: string
    readonly token: string
  }
  interface TokenPage {
    readonly data: readonly Made[]
    readonly nextCursor: string | null
  }
  const create = (name: string) =>
    ask<Made>('POST', '/v1/access-tokens', { name, gates: ['bench'], requestsPerMinute: 1_000_000 })
  const made: Made[] = []
  const createMs = await medianMs(TIMES, async (number) => {
    made.push(await create(`made ${number}`))
  })
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, client) => {
      for (let number = 0; number < TIMES / AT_ONCE; number += 1)
        made.push(await create(`made by ${client}`))
    }),
  )
  const parallelMs = (performance.now() - startedAt) / TIMES
  const page = (cursor?: string | null) =>
    ask<TokenPage>(
      'GET',
      `/v1/access-tokens?limit=${PAGE}${cursor == null ? '' : `&cursor=${cursor}`}`,
    )
  const pageMs = await medianMs(20, () => page())
  const listedAt = performance.now()
  const cursors: string[] = []
  let listed = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, nextCursor } = await page(cursor)
    listed += data.length
    cursor = nextCursor
    if (nextCursor !== null) cursors.push(nextCursor)
  }
  const wholeMs = performance.now() - listedAt
  if (listed < size) throw new Error(`${listed} of ${size} tokens were listed`)
  const middle = cursors[Math.floor(cursors.length / 2)]
  const middleMs = await medianMs(20, () => page(middle))
  const at = (number: number): Made => {
    const found = made[number]
    if (found === undefined) throw new Error(`no token ${number}`)
    return found
  }
  const callMs = await medianMs(TIMES, (number) => callNode({ url }, at(number).token))
  const keyCallMs = await medianMs(TIMES, () => callNode({ url }, KEY))
  const changeMs = await medianMs(50, (number) =>
    ask('PATCH', `/v1/access-tokens/${at(number).id}`, { name: 'changed' }),
  )
  const budgetMs = await medianMs(20, (number) =>
    ask('POST', '/v1/budgets', { keyId: at(number).id, period: 'month', limitUsd: 1 }),
  )
  const stopMs = await medianMs(50, (number) =>
    ask('POST', `/v1/access-tokens/${at(number).id}/stop`, {}),
  )
  const revokeMs = await medianMs(50, async (number) => {
    const { id, token } = at(number + 50)
    await ask('DELETE', `/v1/access-tokens/${id}`)
    const { status } = await fetch(`${url}/v1/models`, {
      headers: { authorization: `Bearer ${token}` },
    })
    if (status !== 401) throw new Error(`a revoked token got ${status}`)
  })
  return {
    'created one by one, ms': createMs,
    'created by sixteen, ms each': parallelMs,
    'a page, ms': pageMs,
    'a page in the middle, ms': middleMs,
    'the whole list, s': wholeMs / 1_000,
    'a call, ms': callMs,
    'a call with a key, ms': keyCallMs,
    'changed, ms': changeMs,
    'given a budget, ms': budgetMs,
    'stopped, ms': stopMs,
    'revoked, ms': revokeMs,
  }
}

async function medianMs(
  times: number,
  work: (number: number) => Promise<unknown>,
): Promise<number> {
  const durations: number[] = []
  for (let number = 0; number < times; number += 1) {
    const startedAt = performance.now()
    await work(number)
    durations.push(performance.now() - startedAt)
  }
  return durations.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0
}

async function seedTokens(store: Store, count: number): Promise<void> {
  await store.keys.insert(keyRecord())
  await seedGate(store)
  const report = createProgress('tokens', count)
  const createdAt = Date.now() - count
  const token = { ...NO_RULES, gates: ['bench' as GateId], requestsPerMinute: 120 }
  for (let first = 0; first < count; first += TOKENS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(TOKENS_AT_ONCE, count - first) }, (_, index) => {
      const number = first + index
      const text = `at-svc-${number.toString(16).padStart(64, '0')}`
      return toKeyRow({
        ...{ accountId: DEFAULT_ACCOUNT, id: createKeyId(), name: `token ${number}`, token },
        ...{ sha256: hashApiKey(text), maskedPrefix: maskApiKey(text) },
        createdAt: createdAt + number,
        ...{ lastUsedAt: null, createdBy: null, expiresAt: null, previous: null },
      })
    })
    await store.database.insertInto('api_keys').values(rows).execute()
    report(first + rows.length)
  }
}
