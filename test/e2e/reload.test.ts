/**
 * `POST /v1/reload` and `gatehouse reload`: every node and every worker reads its own file, keeps
 * its settings when the file has faults, and is named in the answer.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { examine, found } from '../support/examine.ts'
import { pollUntil } from '../support/poll-until.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { findRedis } from '../support/redis-server.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import {
  createWorkerScene,
  keepCalling,
  METRICS_TOKEN,
  startWorkers,
  type WorkerScene,
  workerPids,
} from '../support/worker-scene.ts'

setDefaultTimeout(180_000)

/** Nothing but the file decides what a key may. */
const QUIET = { GATEHOUSE_REQUESTS_PER_MINUTE: '', GATEHOUSE_CONCURRENT_CALLS: '' }

interface Answer {
  readonly id: string
  readonly status: string
  readonly nodes: readonly {
    readonly node: string | null
    readonly worker: number | null
    readonly status: string
    readonly digest: string | null
    readonly faults: readonly { file: string | null; line: number | null; message: string }[]
    readonly changed: readonly string[]
  }[]
}

const started: Gatehouse[] = []
afterEach(async () => {
  for (const gatehouse of started.splice(0)) {
    // Workers of a killed supervisor may write into a folder that has been removed.
    await gatehouse.stop()
    await gatehouse.remove()
  }
})

async function start(...parameters: Parameters<typeof startGatehouse>): Promise<Gatehouse> {
  const gatehouse = await startGatehouse(...parameters)
  started.push(gatehouse)
  return gatehouse
}

const plans = (requestsPerMinute: number) =>
  `plans: {default: small, definitions: {small: {requestsPerMinute: ${requestsPerMinute}}}}\n`

function write({ dataFolder }: Gatehouse, text: string): Promise<void> {
  return writeFile(join(dataFolder, 'gatehouse.yaml'), text)
}

async function reload(gatehouse: Gatehouse): Promise<Answer> {
  const response = await controlPlaneCall(gatehouse, 'POST', '/v1/reload')
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}

async function limitOf({ url, key }: Gatehouse): Promise<string | null> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.arrayBuffer()
  return response.headers.get('x-ratelimit-limit-requests')
}

async function readiness({ url }: Gatehouse) {
  const answer = (await (await fetch(`${url}/readyz`)).json()) as {
    readonly status: string
    readonly checks: { readonly configuration: Readonly<Record<string, unknown>> }
  }
  return { status: answer.status, ...{ configuration: answer.checks.configuration } }
}

function command({ url, key }: Gatehouse, ...words: string[]) {
  const environment = { GATEHOUSE_URL: url, GATEHOUSE_API_KEY: key }
  return runCliInProcess(['reload', ...words], { environment })
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

describe('one node on a file', () => {
  test('follows the rules of models', async () => {
    const gatehouse = await start({ sandbox: true, environment: QUIET })
    await createGate(gatehouse, 'ruled', ['sandbox-gemini/echo'])
    const ignored = async () => {
      const response = await fetch(`${gatehouse.url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ model: 'ruled', max_tokens: 90 },
          messages: [{ role: 'user', content: 'hi' }],
        }),
      })
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
      return response.headers.get('x-gatehouse-ignored')
    }
    expect(await ignored()).toBeNull()
    await write(
      gatehouse,
      'models: [{ model: sandbox-gemini/echo, takes: { maxOutputTokens: 50 } }]\n',
    )
    expect((await reload(gatehouse)).status).toBe('reloaded')
    expect(await ignored()).toBe('max_tokens')
    const shown = await controlPlaneCall(gatehouse, 'GET', '/v1/models/ruled')
    expect(await shown.json()).toMatchObject({ max_output_tokens: 50 })
    await write(
      gatehouse,
      'models: [{ model: sandbox-gemini/echo, takes: { maxOutputTokens: null } }]\n',
    )
    await reload(gatehouse)
    expect(await ignored()).toBeNull()
  })

  test('reloads, names every fault with its line, and keeps what it had', async () => {
    const gatehouse = await start({ sandbox: true, environment: QUIET })
    await write(gatehouse, plans(7))
    expect(await reload(gatehouse)).toEqual({
      id: expect.stringMatching(/^reload_[0-9a-f]{32}$/),
      status: 'reloaded',
      nodes: [
        {
          node: null,
          host: hostname(),
          worker: null,
          status: 'reloaded',
          digest: digestOf(plans(7)),
          faults: [],
          changed: ['plans'],
          needsRestart: [],
        },
      ],
    } as object as Answer)
    expect(await limitOf(gatehouse)).toBe('7')

    await write(gatehouse, `colour: red\nlogLevel: loud\n${plans(9)}`)
    const { status, nodes } = await reload(gatehouse)
    const file = join(gatehouse.dataFolder, 'gatehouse.yaml')
    expect(status).toBe('incomplete')
    expect(nodes).toMatchObject([
      {
        status: 'refused',
        digest: digestOf(plans(7)),
        faults: [
          { file, line: 1, message: 'colour is not a known field' },
          { file, line: 2, message: expect.stringContaining('logLevel must be') },
        ],
      },
    ])
    expect(await limitOf(gatehouse)).toBe('7')
    expect(await readiness(gatehouse)).toEqual({
      status: 'ready',
      configuration: { status: 'refused', digest: digestOf(plans(7)).slice(0, 12) },
    })

    const shown = await command(gatehouse)
    expect(shown.exitCode).toBe(1)
    expect(shown.stdout).toContain('refused its file, the settings from before stay')
    expect(shown.stdout).toContain(`  ${file}:1: colour is not a known field\n`)

    await rm(file)
    expect((await reload(gatehouse)).nodes[0]?.faults[0]?.message).toContain('is missing')

    await write(gatehouse, plans(9))
    const done = await command(gatehouse)
    expect(done).toMatchObject({ exitCode: 0, stderr: '' })
    expect(done.stdout).toBe(`${hostname()}  reloaded ${digestOf(plans(9)).slice(0, 12)}: plans\n`)
    expect(await limitOf(gatehouse)).toBe('9')
  })

  test('the log level follows', async () => {
    const gatehouse = await start({ environment: { GATEHOUSE_LOG_LEVEL: '' } })
    const line = 'the configuration was reloaded'
    await write(gatehouse, 'logLevel: error\n')
    expect((await reload(gatehouse)).nodes[0]?.changed).toEqual(['logLevel'])
    expect(gatehouse.output()).not.toContain(line)
    await write(gatehouse, 'logLevel: info\n')
    expect((await reload(gatehouse)).nodes[0]?.changed).toEqual(['logLevel'])
    await pollUntil('the line', () => gatehouse.output().includes(line))
  })

  test('is in the audit log, with what was in force before', async () => {
    const gatehouse = await start({ sandbox: true })
    await write(gatehouse, plans(7))
    const { id } = await reload(gatehouse)
    const path = '/v1/audit-log?action=configuration.reload'
    const { data } = (await (await controlPlaneCall(gatehouse, 'GET', path)).json()) as {
      data: object[]
    }
    expect(data).toMatchObject([
      {
        resourceId: id,
        resourceType: 'configuration',
        actor: { type: 'key' },
        before: { digest: null },
        after: { digest: digestOf(plans(7)) },
      },
    ])
  })

  test('refuses access tokens, and everybody where no account is the operator’s', async () => {
    const gatehouse = await start()
    const made = await controlPlaneCall(gatehouse, 'POST', '/v1/access-tokens', { name: 'agent' })
    const token = ((await made.json()) as { token: string }).token
    const byToken = await controlPlaneCall({ ...gatehouse, key: token }, 'POST', '/v1/reload')
    expect(byToken.status).toBe(403)
    expect(await byToken.text()).toContain('An access token can only call gates')
    const rented = await start({ environment: { GATEHOUSE_DEFAULT_ACCOUNT: 'tenant' } })
    const response = await controlPlaneCall(rented, 'POST', '/v1/reload')
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('no account of its operator')
  })

  test('the command without GATEHOUSE_URL says that there is no server', async () => {
    const ran = await runCliInProcess(['reload'], { environment: {} })
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('GATEHOUSE_URL') })
  })
})

describeIf(findPostgres() !== undefined, 'needs Postgres')('two nodes on one Postgres', () => {
  const key = createBootstrapKey()
  let scene: PostgresScene
  let url: string
  beforeAll(async () => {
    scene = await createPostgresScene()
  })
  afterAll(() => scene?.remove())

  async function startNodes(): Promise<readonly [Gatehouse, Gatehouse]> {
    url = await scene.createDatabase()
    const options = {
      ...{ key, sandbox: true },
      environment: {
        ...PATIENT_WITH_DATABASE,
        ...QUIET,
        GATEHOUSE_MASTER_KEY: '01'.repeat(32),
        GATEHOUSE_LEASE_MS: '2000',
        DATABASE_URL: url,
      },
    }
    return [await start(options), await start(options)]
  }

  test('both reload at one request; one whose file is broken reports it and keeps its settings', async () => {
    const [first, second] = await startNodes()
    for (const node of [first, second]) await write(node, plans(7))
    const { status, nodes } = await reload(first)
    expect(status).toBe('reloaded')
    expect(nodes).toHaveLength(2)
    expect(nodes.map((node) => [node.status, node.digest, node.changed])).toEqual([
      ['reloaded', digestOf(plans(7)), ['plans']],
      ['reloaded', digestOf(plans(7)), ['plans']],
    ])
    expect(new Set(nodes.map(({ node }) => node)).size).toBe(2)
    expect([await limitOf(first), await limitOf(second)]).toEqual(['7', '7'])

    await write(first, plans(9))
    await write(second, `plans:\n  default: nobody\n  accounts: []\n`)
    const broken = await reload(first)
    const file = join(second.dataFolder, 'gatehouse.yaml')
    expect(broken.status).toBe('incomplete')
    expect(broken.nodes).toMatchObject([
      { status: 'reloaded', digest: digestOf(plans(9)) },
      {
        status: 'refused',
        digest: digestOf(plans(7)),
        faults: [{ file, line: 3, message: expect.stringContaining('plans.accounts') }],
      },
    ])
    expect([await limitOf(first), await limitOf(second)]).toEqual(['9', '7'])
    const differing = await pollUntil('the difference', async () => {
      const { configuration } = await readiness(first)
      return configuration['status'] === 'differs' ? configuration : undefined
    })
    expect(differing).toMatchObject({ otherNodes: 1, differing: 1 })
    expect((await readiness(second)).configuration['status']).toBe('refused')
    const examined = await examine({
      GATEHOUSE_DATA_DIR: join(first.dataFolder, 'nobody'),
      DATABASE_URL: url,
      ...{ GATEHOUSE_URL: second.url, GATEHOUSE_API_KEY: key },
    })
    expect(found(examined, 'settings', 'warn')).toContain('refused its configuration file')
    for (const limit of [7, 9])
      expect(found(examined, 'nodes', 'warn')).toContain(digestOf(plans(limit)).slice(0, 12))

    await write(second, plans(9))
    expect((await reload(second)).status).toBe('reloaded')
    await pollUntil(
      'agreement',
      async () => (await readiness(first)).configuration['status'] === 'ok',
    )
    expect(await limitOf(second)).toBe('9')
  })

  test('a node that has stopped answering is named, and reloads when it is back', async () => {
    const [first, second] = await startNodes()
    for (const node of [first, second]) await write(node, plans(7))
    second.signal('SIGSTOP')
    try {
      const { stdout, exitCode } = await command(first)
      expect(exitCode).toBe(1)
      expect(stdout.split('\n')).toEqual([
        expect.stringContaining(': plans'),
        expect.stringMatching(/node_\w+ {2}did not answer$/),
        '',
      ])
    } finally {
      second.signal('SIGCONT')
    }
    await pollUntil('the limit of the file', async () => (await limitOf(second)) === '7')
  })

  test('SIGHUP reloads one node, which reports its digest to the other', async () => {
    const [first, second] = await startNodes()
    await write(second, plans(7))
    second.signal('SIGHUP')
    await pollUntil('the limit of the file', async () => (await limitOf(second)) === '7')
    expect(await limitOf(first)).toBeNull()
    await pollUntil(
      'the difference',
      async () => (await readiness(first)).configuration['status'] === 'differs',
    )
  })
})

describeIf(
  findPostgres() !== undefined && findRedis() !== undefined,
  'needs Postgres and redis-server',
)('workers', () => {
  let scene: WorkerScene
  beforeAll(async () => {
    scene = await createWorkerScene()
  })
  afterAll(() => scene?.remove())

  test('all reload under load without a lost call, and their supervisor records the file', async () => {
    const gatehouse = await startWorkers(await scene.createStores(), 2, { environment: QUIET })
    started.push(gatehouse)
    const complete = new Set<string>()
    const calling = keepCalling(gatehouse, 4, complete)
    const pids = [...workerPids(gatehouse).values()]
    for (let limit = 70_000; limit < 70_010; limit += 1) {
      await write(gatehouse, plans(limit))
      const { status, nodes } = await reload(gatehouse)
      expect(status).toBe('reloaded')
      expect(nodes.map(({ worker }) => worker).toSorted()).toEqual([0, 1])
      expect(nodes.map(({ digest }) => digest)).toEqual([
        digestOf(plans(limit)),
        digestOf(plans(limit)),
      ])
      for (let call = 0; call < 6; call += 1) expect(await limitOf(gatehouse)).toBe(`${limit}`)
    }
    await calling.stop()
    expect(calling.failures()).toBe(0)
    expect(complete.size).toBeGreaterThan(50)
    expect([...workerPids(gatehouse).values()]).toEqual(pids)
    const record = Bun.file(join(gatehouse.dataFolder, 'configuration.json'))
    await pollUntil(
      'the record',
      async () => ((await record.json()) as { digest: string }).digest === digestOf(plans(70_009)),
    )
  })

  test('a broken file is reported by each worker and counted once', async () => {
    const gatehouse = await startWorkers(await scene.createStores(), 2, { environment: QUIET })
    started.push(gatehouse)
    await write(gatehouse, 'colour: red\n')
    const { nodes } = await reload(gatehouse)
    expect(nodes.map(({ status, faults }) => [status, faults[0]?.line])).toEqual([
      ['refused', 1],
      ['refused', 1],
    ])
    const counted = async () => {
      const headers = { authorization: `Bearer ${METRICS_TOKEN}`, connection: 'close' }
      const text = await (await fetch(`${gatehouse.url}/metrics`, { headers })).text()
      return /^gatehouse_config_reloads_refused_total (\d+)$/m.exec(text)?.[1]
    }
    await pollUntil('the count', async () => (await counted()) === '1')
    await pollUntil(
      'both workers',
      () => gatehouse.output().split('nothing has changed').length > 3,
    )
    expect(await counted()).toBe('1')
  })
})
