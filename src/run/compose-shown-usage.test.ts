/** Any of several nodes answers of an account's quota and budgets what all of them have used. */
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { databases } from '../../test/support/databases.ts'
import { pollUntil } from '../../test/support/poll-until.ts'
import { findRedis, type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { testIf } from '../../test/support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.ts'
import { readSettings } from '../config/settings.ts'
import { generateApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const USED = 30
const POSTGRES = databases.find(({ name }) => name === 'Postgres')
const HAS_REDIS = findRedis() !== undefined

let redis: RedisServer | undefined
let upstream: ReturnType<typeof startUpstream>

function startUpstream() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
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

beforeAll(async () => {
  upstream = startUpstream()
  if (HAS_REDIS) redis = await startRedis()
})
afterAll(async () => {
  await upstream.stop(true)
  await redis?.remove()
})

interface Shown {
  readonly tokens: number
  readonly budgetTokens: readonly number[]
}

class Pair {
  readonly #key = generateApiKey()
  readonly #folders: TemporaryFolder[] = []
  readonly #nodes: Gatehouse[] = []

  async start(environment: Record<string, string>): Promise<void> {
    for (const _ of [1, 2]) {
      const folder = await createTemporaryFolder()
      this.#folders.push(folder)
      const settings = readSettings({
        GATEHOUSE_DATA_DIR: folder.path,
        GATEHOUSE_MASTER_KEY: '5a'.repeat(32),
        OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
        OPENAI_API_KEY: 'planted',
        ...environment,
      })
      const plans = { default: 'team', definitions: { team: { monthlyTokens: 1_000_000 } } }
      this.#nodes.push(await composeGatehouse({ settings, log: createLog('silent'), plans }))
    }
    const [first, second] = this.#nodes
    await first?.keys.import({ accountId: DEFAULT_ACCOUNT, name: 'test', key: this.#key })
    await first?.gates.create(DEFAULT_ACCOUNT, {
      id: 'demo' as GateId,
      description: '',
      targets: [{ model: 'openai/m' }],
      timeoutMs: null,
      maxRetries: 0,
    })
    const budgets = ['day', 'total'].map((period) => ({
      gateId: 'demo',
      limitTokens: 1_000_000,
      period,
    }))
    await pollUntil('the other node knows the gate', () => {
      return second?.gates.find(DEFAULT_ACCOUNT, 'demo') !== undefined
    })
    for (const budget of budgets)
      await this.#send(0, '/v1/budgets', { method: 'POST', body: JSON.stringify(budget) })
  }

  async call(node: number): Promise<void> {
    const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] })
    const answer = await this.#send(node, '/v1/chat/completions', { method: 'POST', body })
    expect(answer.status).toBe(200)
    await answer.text()
  }

  async shownBy(node: number): Promise<Shown> {
    const account = (await (await this.#send(node, '/v1/account')).json()) as {
      quota: { tokens: { used: number } }
    }
    const budgets = (await (await this.#send(node, '/v1/budgets')).json()) as {
      data: { id: string; used: { tokens: number } }[]
    }
    const first = budgets.data[0]?.id ?? ''
    const one = (await (await this.#send(node, `/v1/budgets/${first}`)).json()) as {
      used: { tokens: number }
    }
    return {
      tokens: account.quota.tokens.used,
      budgetTokens: [...budgets.data.map(({ used }) => used.tokens), one.used.tokens],
    }
  }

  async stop(): Promise<void> {
    for (const node of this.#nodes) await node.close()
    for (const folder of this.#folders) await folder.remove()
  }

  async #send(node: number, path: string, init: RequestInit = {}): Promise<Response> {
    const gatehouse = this.#nodes[node]
    if (gatehouse === undefined) throw new Error('not started')
    const headers = {
      authorization: `Bearer ${this.#key.reveal()}`,
      'content-type': 'application/json',
    }
    return await gatehouse.handle(new Request(`http://gatehouse.test${path}`, { ...init, headers }))
  }
}

const all = (tokens: number): Shown => ({ tokens, budgetTokens: [tokens, tokens, tokens] })

describe('two nodes', () => {
  const DEPLOYMENTS: readonly (readonly [string, boolean, () => Record<string, string>])[] = [
    // The ledger is not read before the test is over: nodes have to report to each other.
    [
      'Postgres and Redis',
      HAS_REDIS && POSTGRES !== undefined,
      () => ({ REDIS_URL: redis?.url ?? '', GATEHOUSE_SHIP_INTERVAL_MS: '60000' }),
    ],
    ['Postgres alone', POSTGRES !== undefined, () => ({})],
  ]
  for (const [name, isHere, environment] of DEPLOYMENTS)
    testIf(isHere, 'needs Postgres and redis-server')(
      `on ${name} both soon show the usage of both, even the one that has served no call`,
      async () => {
        const database = await POSTGRES?.create()
        if (database === undefined || !('postgres' in database.location))
          throw new Error('no Postgres')
        const pair = new Pair()
        try {
          const url = database.location.postgres.url.reveal()
          await pair.start({ DATABASE_URL: url, ...environment() })
          for (const [node, calls] of [
            [0, 1],
            [0, 2],
            [1, 3],
          ] as const) {
            await pair.call(node)
            for (const asked of [0, 1])
              await pollUntil(`node ${asked} tells of ${calls} calls`, async () =>
                Bun.deepEquals(await pair.shownBy(asked), all(calls * USED)),
              )
          }
        } finally {
          await pair.stop()
          await database.remove()
        }
      },
    )
})
