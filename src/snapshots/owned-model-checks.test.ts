/**
 * Checks of owned models: the answer to each caller, the result that is kept, and how many are
 * under way at once.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { databases, type TestDatabase } from '../../test/support/databases.ts'
import { ScriptedClock } from '../../test/support/scripted-clock.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import type { OwnedModel } from '../core/owned-model.ts'
import { Secret } from '../core/secret.ts'
import { createVault } from '../core/vault.ts'
import type { ProbeOptions, ProbeResult } from '../gateway/probe/probe-owned-model.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { OwnedModelChecks } from './owned-model-checks.ts'
import { OwnedModelRegistry } from './owned-model-registry.ts'

const REACHABLE: ProbeResult = { status: 'reachable', latencyMs: 5, httpStatus: 200 }

interface Asked extends Pick<ProbeOptions, 'signal' | 'onInterim'> {
  readonly slug: string
  /** The server has answered. */
  readonly answer: (result: ProbeResult | undefined) => void
}

let database: TestDatabase
let store: Store
let clock: ScriptedClock
let registry: OwnedModelRegistry
let checks: OwnedModelChecks
let asked: Asked[]
let failures: unknown[]

const load = () =>
  OwnedModelRegistry.load({
    ownedModels: store.ownedModels,
    vault: createVault([new Secret('1a'.repeat(32))]),
    clock,
  })

const register = (slug: string): Promise<OwnedModel> =>
  registry.create(DEFAULT_ACCOUNT, {
    slug,
    displayName: slug,
    dialect: 'anthropic-messages',
    baseUrl: 'https://models.vendor.com',
    upstreamModelId: 'm',
    credentialHeader: 'auto',
    fimEndpoint: 'auto',
    fimTemplate: 'auto',
    pricingInput: 1,
    pricingOutput: 2,
    pricingCachedInput: 3,
    credential: new Secret(`credential of ${slug}`),
  })

const shown = (slug = 'a') => {
  const model = registry.show(DEFAULT_ACCOUNT, slug)
  return model === undefined ? undefined : registry.probeOf(model)
}

/** The row as another node, or this one after a restart, reads it. */
const stored = async (slug = 'a') =>
  (await store.ownedModels.findSome([{ accountId: DEFAULT_ACCOUNT, id: slug }]))[0]?.model.probe

/** The one that was asked last. */
function last(): Asked {
  const latest = asked.at(-1)
  if (latest === undefined) throw new Error('Nobody was asked.')
  return latest
}

/** Real I/O is under way: turns of the event loop until it is done. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(databases)('on $name', (kind) => {
  beforeEach(async () => {
    database = await kind.create()
    store = await openStore(database.location)
    clock = new ScriptedClock()
    registry = await load()
    asked = []
    failures = []
    checks = new OwnedModelChecks({
      ownedModels: registry,
      clock,
      probe: (model, _, options) =>
        new Promise((resolve) => {
          asked.push({ ...options, slug: model.slug, answer: resolve })
          options.signal.addEventListener('abort', () => resolve(undefined), { once: true })
        }),
      onFailure: (error) => void failures.push(error),
    })
  })
  afterEach(async () => {
    await checks.close()
    expect(failures).toEqual([])
    expect(clock.pending).toBe(0)
    await store.close()
    await database.remove()
  })

  test('a result found at once is answered at once, and stored', async () => {
    const model = await register('a')
    const checking = checks.check(model)
    last().answer(REACHABLE)
    const probe = { ...REACHABLE, checkedAt: clock.now() }
    expect((await checking).probe).toEqual(probe)
    expect(shown()).toEqual(probe)
    expect(await stored()).toEqual(probe)
    expect((await load()).show(DEFAULT_ACCOUNT, 'a')?.probe).toEqual(probe)
  })

  test('a caller waits three seconds at most, and a later result is stored', async () => {
    const checking = checks.check(await register('a'))
    const begunAt = clock.now()
    await clock.advance(3_000)
    expect((await checking).probe).toEqual({ status: 'checking', checkedAt: begunAt, latencyMs: 0 })
    await clock.advance(40_000)
    last().answer({ ...REACHABLE, latencyMs: 43_000 })
    await until(() => shown()?.status === 'reachable')
    expect(await stored()).toEqual({ ...REACHABLE, latencyMs: 43_000, checkedAt: begunAt })
  })

  test('a loading server is reported at once, stored, and reported once', async () => {
    const checking = checks.check(await register('a'))
    const loading: ProbeResult = {
      status: 'loading',
      latencyMs: 9,
      httpStatus: 503,
      detail: 'It loads.',
    }
    last().onInterim?.(loading)
    expect((await checking).probe).toMatchObject(loading)
    last().onInterim?.({ ...loading, latencyMs: 1_009 })
    last().answer(REACHABLE)
    await until(() => shown()?.status === 'reachable')
    expect(await stored()).toMatchObject(REACHABLE)
  })

  test('two checks of one model at once share one probe and its result', async () => {
    const model = await register('a')
    const both = Promise.all([checks.check(model), checks.check(model)])
    expect(asked).toHaveLength(1)
    last().answer(REACHABLE)
    expect((await both).map(({ probe }) => probe?.status)).toEqual(['reachable', 'reachable'])
  })

  test('a check of a model that changes during it stores nothing', async () => {
    const before = await register('a')
    const first = checks.check(before)
    const changed = await registry.update(DEFAULT_ACCOUNT, 'a', {
      credential: new Secret('another'),
    })
    const second = checks.check(changed)
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false])
    last().answer({ status: 'unreachable', latencyMs: 1, httpStatus: 401 })
    expect((await second).probe).toMatchObject({ status: 'unreachable' })
    expect((await first).slug).toBe('a')
    // Another node does not know of this check, and changes nothing either.
    expect(await registry.noteProbe(before, { ...REACHABLE, checkedAt: 1 })).toBeUndefined()
    expect(await store.ownedModels.saveProbe({ ...before, probe: null })).toBeFalse()
    expect(await stored()).toMatchObject({ status: 'unreachable', httpStatus: 401 })
  })

  test('findings about a server are used by calls, and outlive a check without findings', async () => {
    const found = { credentialHeader: 'authorization', countTokens: true } as const
    const providerOf = () => registry.find(DEFAULT_ACCOUNT, 'a')?.provider
    const model = await register('a')
    expect(providerOf()).toMatchObject({ keyHeader: 'x-api-key' })
    const elsewhere = await load()
    const first = checks.check(model)
    last().answer({ ...REACHABLE, found })
    const reached = await first
    expect(providerOf()).not.toHaveProperty('keyHeader')
    expect(providerOf()?.endpoints).toHaveProperty('anthropic-count-tokens')
    await elsewhere.follow([{ accountId: DEFAULT_ACCOUNT, id: 'a' }])
    expect(elsewhere.find(DEFAULT_ACCOUNT, 'a')?.provider).toEqual(
      registry.find(DEFAULT_ACCOUNT, 'a')?.provider,
    )

    const upstream = registry.find(DEFAULT_ACCOUNT, 'a')
    const second = checks.check(reached)
    await until(() => shown()?.status === 'checking')
    expect(shown()?.found).toEqual(found)
    last().answer({ status: 'unreachable', latencyMs: 1 })
    expect((await second).probe).toMatchObject({ status: 'unreachable', found })
    // Others remember things of it.
    expect(registry.find(DEFAULT_ACCOUNT, 'a')).toBe(upstream)
    expect((await load()).find(DEFAULT_ACCOUNT, 'a')?.provider).toEqual(upstream?.provider)
  })

  test('an account has four checks running at once, and the others after them', async () => {
    const models = []
    for (const slug of ['a', 'b', 'c', 'd', 'e', 'f']) models.push(await register(slug))
    const all = Promise.all(models.map((model) => checks.check(model)))
    expect(asked.map(({ slug }) => slug)).toEqual(['a', 'b', 'c', 'd'])
    asked[1]?.answer(REACHABLE)
    await until(() => asked.length === 5)
    expect(asked.map(({ slug }) => slug)).toEqual(['a', 'b', 'c', 'd', 'e'])
    for (const index of [0, 2, 3, 4]) asked[index]?.answer(REACHABLE)
    await until(() => asked.length === 6)
    last().answer(REACHABLE)
    expect((await all).map(({ probe }) => probe?.status)).toEqual(Array(6).fill('reachable'))
  })

  test('a gateway that ends stores running checks as cut short', async () => {
    const begun = checks.check(await register('a'))
    await checks.close()
    expect((await begun).slug).toBe('a')
    expect(await stored()).toMatchObject({
      status: 'unknown',
      detail: 'The check was cancelled. Run it again.',
    })
  })

  test('a check without a result, because the gateway ends, is stored as cut short', async () => {
    const begun = checks.check(await register('a'))
    last().answer(undefined)
    expect((await begun).probe).toMatchObject({ status: 'unknown' })
    expect(await stored()).toMatchObject({ status: 'unknown' })
  })

  test('a check without a result is not shown as under way after fifteen minutes', async () => {
    await register('a')
    expect(shown()?.status).toBe('checking')
    await clock.advance(15 * 60_000)
    expect(shown()?.status).toBe('checking')
    await clock.advance(1)
    expect(shown()?.status).toBe('unknown')
  })

  test('a check without a result is not shown as under way after a clock was set back', async () => {
    await register('a')
    clock.jump(-86_400_000)
    expect(shown()?.status).toBe('unknown')
  })

  test('a check of a model deleted during it leaves nothing', async () => {
    const checking = checks.check(await register('a'))
    await registry.delete(DEFAULT_ACCOUNT, 'a', () => undefined)
    last().answer(REACHABLE)
    expect((await checking).slug).toBe('a')
    expect(await stored()).toBeUndefined()
  })

  test('no check writes into the audit log', async () => {
    const checking = checks.check(await register('a'))
    last().answer(REACHABLE)
    await checking
    const rows = await store.database.selectFrom('audit_log').selectAll().execute()
    expect(rows.map(({ action }) => action)).toEqual(['owned-model.create'])
    expect(JSON.stringify(rows)).not.toContain('checkedAt')
  })
})
