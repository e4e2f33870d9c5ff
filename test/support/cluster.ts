/**
 * Several gateways on one Postgres and one Redis, as behind a load balancer. Each node reaches
 * Postgres and Redis through its own proxies, which tests can cut.
 */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from './control-plane.ts'
import { createMigratedDatabase, OUR_TABLES } from './migrated-postgres.ts'
import { pollUntil } from './poll-until.ts'
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts'
import { findRedis, type RedisServer, startRedis } from './redis-server.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from './start-gatehouse.ts'
import { startSandboxServer } from './start-sandbox-server.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

const DATABASE = 'cluster'

export interface ClusterOptions {
  readonly nodes?: number
  readonly environment?: Readonly<Record<string, string>>
  readonly configuration?: string
  /** Called with the first node before the other nodes start. */
  readonly prepare?: (first: ClusterNode) => Promise<void>
  readonly eventPauseMs?: number
  readonly hasRedis?: boolean
  /** The folder of other sources, for every node, on an empty database. */
  readonly source?: string
  readonly nodeOptions?: (index: number) => {
    readonly program?: string
    readonly environment?: Readonly<Record<string, string>>
  }
}

export interface ClusterNode {
  readonly index: number
  readonly url: string
  readonly key: string
  readonly pid: number
  readonly dataFolder: string
  readonly postgres: TcpProxy
  readonly redis: TcpProxy
  readonly isRunning: boolean
  output(): string
  pause(): void
  resume(): void
  kill(): Promise<void>
  stop(): Promise<number>
  /**
   * Starts on the same data folder, after ending what still runs by SIGKILL.
   * @param source the folder of another version
   */
  restart(source?: string): Promise<void>
  readiness(): Promise<Readiness>
}

export interface Readiness {
  readonly status: number
  readonly checks: Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
    readonly ledger: {
      readonly unshippedBytes: number
      readonly dropped: number
      readonly backlog: number
    }
  }
}

export interface Cluster {
  readonly key: string
  readonly nodes: readonly ClusterNode[]
  readonly postgres: PostgresServer
  readonly redis: RedisServer
  query<Row extends object>(sql: string): Promise<Row[]>
  node(index: number): ClusterNode
  whenShipped(timeoutMs?: number): Promise<void>
  heal(): void
  remove(): Promise<void>
}

/**
 * Whether everything that a cluster needs is installed.
 * @throws with `CI` set, when something is missing
 */
export function canStartCluster(): boolean {
  return findPostgres() !== undefined && findRedis() !== undefined
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const endings: (() => Promise<unknown>)[] = []
  const remove = async () => {
    for (const end of endings.splice(0).reverse()) await end().catch(() => {})
  }
  try {
    const folder = await createTemporaryFolder()
    endings.push(() => folder.remove())
    const isOurs = options.source === undefined
    const postgres = await startPostgres(isOurs ? { content: OUR_TABLES } : {})
    endings.push(() => postgres.remove())
    await (isOurs
      ? createMigratedDatabase(postgres, DATABASE)
      : postgres.run(`CREATE DATABASE ${DATABASE}`))
    const redis = await startRedis()
    endings.push(() => redis.remove())
    const sandbox = await startSandboxServer({ delayMs: options.eventPauseMs ?? 0 })
    endings.push(() => sandbox.remove())
    const key = createBootstrapKey()
    const masterKey = randomBytes(32).toString('hex')
    const nodes: Node[] = []
    for (let index = 0; index < (options.nodes ?? 3); index += 1) {
      const wires = {
        postgres: await startTcpProxy(postgres.port),
        redis: await startTcpProxy(redis.port),
      }
      endings.push(() => wires.postgres.close())
      endings.push(() => wires.redis.close())
      const dataFolder = join(folder.path, `node-${index}`)
      await mkdir(dataFolder)
      if (options.configuration !== undefined)
        await Bun.write(join(dataFolder, 'gatehouse.yaml'), options.configuration)
      const own = options.nodeOptions?.(index)
      const node = new Node(index, wires, {
        ...(own?.program === undefined ? {} : { program: own.program }),
        key,
        dataFolder,
        environment: {
          DATABASE_URL: postgres
            .urlOf(DATABASE)
            .replace(`:${postgres.port}/`, `:${wires.postgres.port}/`),
          ...(options.hasRedis === false
            ? {}
            : { REDIS_URL: `redis://127.0.0.1:${wires.redis.port}` }),
          GATEHOUSE_MASTER_KEY: masterKey,
          GATEHOUSE_LOG_LEVEL: 'info',
          SANDBOX_BASE_URL: sandbox.url,
          ...options.environment,
          ...own?.environment,
        },
      })
      nodes.push(node)
      endings.push(() => node.end())
      await node.start(options.source)
      if (index > 0) continue
      await createGate(node, 'demo', 'sandbox/echo')
      await options.prepare?.(node)
    }
    return describe({ key, nodes, postgres, redis, remove })
  } catch (error) {
    await remove()
    throw error
  }
}

function describe(
  parts: Pick<Cluster, 'key' | 'postgres' | 'redis' | 'remove'> & { nodes: readonly Node[] },
): Cluster {
  const { nodes, postgres } = parts
  const node = (index: number): Node => {
    const found = nodes[index]
    if (found === undefined) throw new Error(`there is no node ${index}`)
    return found
  }
  return {
    ...parts,
    node,
    query: (sql) => postgres.run(sql, DATABASE),
    whenShipped: async (timeoutMs = 30_000) => {
      for (const each of nodes) {
        await pollUntil(
          `an empty journal of node ${each.index}`,
          async () =>
            !each.isRunning || (await each.readiness()).checks.ledger.unshippedBytes === 0,
          { timeoutMs, intervalMs: 100 },
        )
      }
    },
    heal: () => {
      for (const each of nodes) {
        each.postgres.restore()
        each.redis.restore()
        each.resume()
      }
    },
  }
}

type StartOptions = NonNullable<Parameters<typeof startGatehouse>[0]>

const STARTS = 5

async function startAgainWhereLate(options: StartOptions): Promise<Gatehouse> {
  for (let started = 1; ; started += 1) {
    try {
      return await startGatehouse(options)
    } catch (error) {
      if (started === STARTS || !String(error).includes('no connection was made in time'))
        throw error
    }
  }
}

class Node implements ClusterNode {
  readonly index: number
  readonly postgres: TcpProxy
  readonly redis: TcpProxy
  readonly key: string
  readonly dataFolder: string
  readonly #options: StartOptions
  #process: Gatehouse | undefined
  #isRunning = false
  #earlierOutput = ''

  constructor(
    index: number,
    wires: { readonly postgres: TcpProxy; readonly redis: TcpProxy },
    options: StartOptions & { readonly key: string; readonly dataFolder: string },
  ) {
    this.index = index
    this.postgres = wires.postgres
    this.redis = wires.redis
    this.key = options.key
    this.dataFolder = options.dataFolder
    this.#options = options
  }

  get url(): string {
    return this.#current.url
  }

  get pid(): number {
    return this.#current.pid
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  output(): string {
    return this.#earlierOutput + (this.#process?.output() ?? '')
  }

  pause(): void {
    this.#current.signal('SIGSTOP')
  }

  resume(): void {
    if (this.#isRunning) this.#current.signal('SIGCONT')
  }

  async kill(): Promise<void> {
    this.#isRunning = false
    await this.#process?.kill()
  }

  async stop(): Promise<number> {
    const code = await this.#current.stop()
    this.#isRunning = false
    return code
  }

  async restart(source?: string): Promise<void> {
    await this.kill()
    await this.start(source)
  }

  async start(source?: string): Promise<void> {
    this.#earlierOutput = this.output()
    this.#process = undefined
    const options = { ...this.#options, ...(source === undefined ? {} : { source }) }
    const started = await startAgainWhereLate(options)
    this.#process = started
    this.#isRunning = true
    void started.exited.then(() => {
      if (this.#process === started) this.#isRunning = false
    })
  }

  async readiness(): Promise<Readiness> {
    const answer = await fetch(`${this.url}/readyz`)
    const body = (await answer.json()) as Pick<Readiness, 'checks'>
    return { ...body, status: answer.status }
  }

  async end(): Promise<void> {
    this.#isRunning = false
    await this.#process?.remove()
  }

  get #current(): Gatehouse {
    if (this.#process === undefined) throw new Error(`node ${this.index} does not run`)
    return this.#process
  }
}

/**
 * The answer of a control plane request.
 * @throws when the status is not `status`
 */
export async function askControlPlane<Body>(
  node: Pick<ClusterNode, 'url' | 'key'>,
  method: string,
  path: string,
  { body, status = 200 }: { readonly body?: unknown; readonly status?: number } = {},
): Promise<Body> {
  const answer = await controlPlaneCall(node, method, path, body)
  const text = await answer.text()
  if (answer.status !== status)
    throw new Error(`${method} ${path}: wanted ${status}, got ${answer.status}: ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Body
}
