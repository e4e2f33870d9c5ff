/**
 * How much one account may store, asked for over HTTP by many at once, of every node that there is.
 */
import { describe, expect, test } from 'bun:test'
import { IS_LONG } from '../../test/support/chaos-form.ts'
import { databases, type TestDatabase, withTestStore } from '../../test/support/databases.ts'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import { readSettings } from '../config/settings.ts'
import { generateApiKey } from '../core/api-key.ts'
import { DEFAULT_ACCOUNT, type InvitationId, type UserId } from '../core/ids.ts'
import { DEFAULT_ACCOUNT_CAPS } from '../core/plan.ts'
import { openStore } from '../store/open-store.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

/** Several times what there is room for, and more than the connections of two nodes. */
const ASKED_AT_ONCE = IS_LONG ? 50 : 24
/** A request beside so many others waits for a connection, on a busy machine for long. */
const CONNECT_TIMEOUT_MS = '60000'
const CAP = 4

const GATE = { targets: [{ model: 'openai/gpt-5' }] }
const OWNED_MODEL = {
  dialect: 'openai-chat',
  baseUrl: 'http://127.0.0.1:9/v1',
  upstreamModelId: 'example',
  credential: 'example-credential-of-a-model',
  pricingInput: 1,
  pricingOutput: 1,
}

interface Resource {
  readonly path: string
  readonly variable: string
  readonly body: (index: number) => object
}

const RESOURCES: readonly Resource[] = [
  { path: '/v1/gates', variable: 'GATEHOUSE_MAX_GATES', body: () => GATE },
  { path: '/v1/keys', variable: 'GATEHOUSE_MAX_KEYS', body: () => ({ name: 'one of many' }) },
  {
    path: '/v1/keys/import',
    variable: 'GATEHOUSE_MAX_KEYS',
    body: () => ({ name: 'imported', key: `legacy_${crypto.randomUUID()}` }),
  },
  {
    path: '/v1/invitations',
    variable: 'GATEHOUSE_MAX_INVITATIONS',
    body: (index) => ({ email: `guest-${index}@example.test` }),
  },
  {
    path: '/v1/owned-models',
    variable: 'GATEHOUSE_MAX_OWNED_MODELS',
    body: (index) => ({ ...OWNED_MODEL, slug: `model-${index}` }),
  },
  {
    path: '/v1/budgets',
    variable: 'GATEHOUSE_MAX_BUDGETS',
    body: () => ({ gateId: 'demo', limitTokens: 5, period: 'day' }),
  },
  { path: '/v1/tags', variable: 'GATEHOUSE_MAX_TAGS', body: (index) => ({ name: `tag-${index}` }) },
  {
    path: '/v1/webhooks',
    variable: 'GATEHOUSE_MAX_WEBHOOKS',
    body: () => ({ url: 'https://127.0.0.1/hook', events: ['budget.exhausted'] }),
  },
]

describe.each(databases)('on $name', (kind) => {
  test.each(RESOURCES)(
    'requests at once to $path create as many resources as the cap has room for',
    async ({ path, variable, body }) => {
      const database = await kind.create()
      const nodes = await Nodes.start(database, { [variable]: String(CAP) })
      try {
        await nodes.createGate('demo')
        const before = await nodes.count(path.replace('/import', ''))
        const answers = await Promise.all(
          Array.from({ length: ASKED_AT_ONCE }, (_, index) => nodes.post(path, body(index), index)),
        )
        const made = answers.filter(({ status }) => status === 201)
        expect(made).toHaveLength(CAP - before)
        const refused = answers.filter(({ status }) => status !== 201)
        for (const { status, answer } of refused) {
          expect({ status, answer }).toMatchObject({ status: 409, answer: { error: 'conflict' } })
          expect(answer.message).toMatch(
            new RegExp(`has ${CAP} .*limit is ${CAP}\\..* operator .*${variable}`),
          )
        }
        expect(await nodes.count(path.replace('/import', ''))).toBe(CAP)
      } finally {
        await nodes.stop()
        await database.remove()
      }
    },
  )

  test('users who accept invitations at once join as far as the account has room', async () => {
    const database = await kind.create()
    const caps = { ...DEFAULT_ACCOUNT_CAPS, members: CAP }
    // Two nodes, where the database may have two.
    const stores = await Promise.all(
      Array.from({ length: 'postgres' in database.location ? 2 : 1 }, () =>
        openStore(database.location, { caps }),
      ),
    )
    try {
      const now = Date.now()
      const tokens = Array.from({ length: ASKED_AT_ONCE }, (_, index) => `token-${index}`)
      for (const token of tokens)
        await stores[0]?.invitations.insert(
          {
            id: `inv_${token}` as InvitationId,
            accountId: DEFAULT_ACCOUNT,
            email: `${token}@example.test`,
            invitedBy: 'key_1',
            createdAt: now,
            expiresAt: now + 600_000,
            acceptedAt: null,
          },
          token,
        )
      const outcomes = await Promise.allSettled(
        tokens.map((token, index) =>
          stores[index % stores.length]?.users.create(
            {
              id: `user_${token}` as UserId,
              name: token,
              email: `${token}@example.test`,
              passwordHash: 'x',
            },
            { type: 'invitation', tokenSha256: token },
            now,
          ),
        ),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(CAP)
      const refused = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason] : [],
      )
      for (const error of refused) {
        expect(error).toMatchObject({ kind: 'conflict' })
        expect(error.message).toMatch(/has 4 members, .* limit is 4\. .*GATEHOUSE_MAX_MEMBERS/)
      }
      // Nobody who was refused has become a user, and their invitations are open still.
      expect(await stores[0]?.members.listAll()).toHaveLength(CAP)
      expect(await database.run('SELECT id FROM users')).toHaveLength(CAP)
      expect(
        await database.run('SELECT id FROM invitations WHERE accepted_at IS NULL'),
      ).toHaveLength(ASKED_AT_ONCE - CAP)
    } finally {
      for (const store of stores) await store.close()
      await database.remove()
    }
  })

  test('expired invitations make room, and at most as many of them are kept as may be open', async () => {
    await withTestStore(kind, async (_, database) => {
      const caps = { ...DEFAULT_ACCOUNT_CAPS, invitations: CAP }
      const store = await openStore(database.location, { caps })
      const lastAt = Date.now()
      for (let index = 0; index < 3 * CAP; index += 1) {
        const createdAt = lastAt - (3 * CAP - index) * 1_000
        await store.invitations.insert(
          {
            id: `inv_${String(index).padStart(2, '0')}` as InvitationId,
            accountId: DEFAULT_ACCOUNT,
            email: 'guest@example.test',
            invitedBy: 'key_1',
            createdAt,
            expiresAt: createdAt + 1,
            acceptedAt: null,
          },
          `token-${index}`,
        )
      }
      const kept = await store.invitations.list(DEFAULT_ACCOUNT, { limit: 100 })
      expect(kept.map(({ id }) => id)).toEqual([
        'inv_11',
        'inv_10',
        'inv_09',
        'inv_08',
        'inv_07',
      ] as never)
      await store.close()
    })
  })
})

test('the limit of requests a minute to the control plane is a setting', async () => {
  const [file] = databases
  if (file === undefined) throw new Error('There is no database.')
  const database = await file.create()
  const nodes = await Nodes.start(database, {
    GATEHOUSE_CONTROL_REQUESTS_PER_MINUTE: '1',
    GATEHOUSE_ANONYMOUS_REQUESTS_PER_MINUTE: '2',
  })
  try {
    const known = [await nodes.ask('/v1/keys'), await nodes.ask('/v1/keys')]
    expect(known.map(({ status }) => status)).toEqual([200, 429])
    const unknown = [
      await nodes.ask('/'),
      await nodes.ask('/nothing'),
      await nodes.ask('/nothing/else'),
    ]
    expect(unknown.map(({ status }) => status)).toEqual([200, 404, 404])
    expect((await nodes.ask('/openapi.json')).status).toBe(429)
  } finally {
    await nodes.stop()
    await database.remove()
  }
})

class Nodes {
  readonly #key: string
  readonly #nodes: readonly Gatehouse[]
  readonly #removals: readonly (() => Promise<void>)[]

  private constructor(
    key: string,
    nodes: readonly Gatehouse[],
    removals: readonly (() => Promise<void>)[],
  ) {
    this.#key = key
    this.#nodes = nodes
    this.#removals = removals
  }

  /** Two of them on Postgres, one on a file. */
  static async start(
    { location }: TestDatabase,
    environment: Record<string, string>,
  ): Promise<Nodes> {
    const key = generateApiKey()
    const nodes: Gatehouse[] = []
    const removals: (() => Promise<void>)[] = []
    for (let started = 0; started < ('postgres' in location ? 2 : 1); started += 1) {
      const folder = await createTemporaryFolder()
      removals.push(() => folder.remove())
      const settings = readSettings({
        GATEHOUSE_DATA_DIR: folder.path,
        GATEHOUSE_MASTER_KEY: '5a'.repeat(32),
        GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
        GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS: CONNECT_TIMEOUT_MS,
        ...('postgres' in location ? { DATABASE_URL: location.postgres.url.reveal() } : {}),
        ...environment,
      })
      const node = await composeGatehouse({ settings, log: createLog('silent') })
      node.keys.addEphemeral(key, { accountId: DEFAULT_ACCOUNT, name: 'test' })
      nodes.push(node)
    }
    return new Nodes(key.reveal(), nodes, removals)
  }

  async post(
    path: string,
    body: object,
    node = 0,
  ): Promise<{ status: number; answer: { message: string } }> {
    const response = await this.#send(path, { method: 'POST', body: JSON.stringify(body) }, node)
    return { status: response.status, answer: (await response.json()) as never }
  }

  ask(path: string): Promise<Response> {
    return this.#send(path, {}, 0)
  }

  async count(path: string): Promise<number> {
    const list = (await (await this.#send(`${path}?limit=100`, {}, 0)).json()) as {
      data: unknown[]
    }
    return list.data.length
  }

  async createGate(id: string): Promise<void> {
    const { status } = await this.post('/v1/gates', { ...GATE, id })
    if (status !== 201) throw new Error(`The gate was not made: ${status}.`)
  }

  async stop(): Promise<void> {
    for (const node of this.#nodes) await node.close()
    for (const remove of this.#removals) await remove()
  }

  async #send(path: string, init: RequestInit, node: number): Promise<Response> {
    const gatehouse = this.#nodes[node % this.#nodes.length]
    if (gatehouse === undefined) throw new Error('No node was started.')
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' }
    return await gatehouse.handle(new Request(`http://gatehouse.test${path}`, { ...init, headers }))
  }
}
