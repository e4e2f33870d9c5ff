/** A real Redis server, or a cluster of three, on free ports of loopback, with temporary files. */
import { connect } from 'node:net'
import { Redis } from 'ioredis'
import { boundToTest } from './bound-to-test.ts'
import { findFreePort } from './free-port.ts'
import { pollUntil, within } from './poll-until.ts'
import { createTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts'

const STOP_TIMEOUT_MS = 10_000

export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly client: Redis
  kill(): Promise<void>
  start(): Promise<void>
  pause(): void
  resume(): void
  remove(): Promise<void>
}

/**
 * GATEHOUSE_TEST_REDIS names the program; default: `redis-server` or `valkey-server` of the `PATH`.
 * @throws with `CI` set, when the program is missing
 */
export function findRedis(): string | undefined {
  const found =
    process.env.GATEHOUSE_TEST_REDIS ??
    Bun.which('redis-server') ??
    Bun.which('valkey-server') ??
    undefined
  if (found === undefined && process.env.CI)
    throw new Error(
      "Redis is not here: install Debian's package redis-server, or name it in GATEHOUSE_TEST_REDIS.",
    )
  return found
}

/** @param settings as of redis.conf: name, value */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const program = findRedis()
  if (program === undefined) throw new Error('there is no redis-server')
  const folder = await createTemporaryFolder()
  const port = await findFreePort()
  let child = await launch(program, folder, port, settings)
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => 50 })
  client.on('error', () => {})
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    client,
    kill: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
    start: async () => {
      child = await launch(program, folder, port, settings)
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    remove: async () => {
      client.disconnect()
      child.kill('SIGKILL')
      await within(STOP_TIMEOUT_MS, 'end of redis-server', child.exited)
      await folder.remove()
    },
  }
}

export interface RedisCluster {
  readonly url: string
  readonly servers: readonly RedisServer[]
  remove(): Promise<void>
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const servers: RedisServer[] = []
  try {
    for (let index = 0; index < 3; index++)
      servers.push(
        await startRedis([...['--cluster-enabled', 'yes'], ...['--cluster-node-timeout', '2000']]),
      )
    const [first] = servers
    if (first === undefined) throw new Error('no servers')
    for (const [index, { client }] of servers.entries()) {
      const from = Math.floor((16_384 / 3) * index)
      const to = Math.floor((16_384 / 3) * (index + 1)) - 1
      await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }
    for (const { port } of servers.slice(1))
      await first.client.call('CLUSTER', 'MEET', '127.0.0.1', port)
    for (const { client } of servers) {
      await pollUntil('the cluster', async () => {
        const info = String(await client.call('CLUSTER', 'INFO'))
        return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')
      })
    }
  } catch (error) {
    for (const server of servers) await server.remove()
    throw error
  }
  return {
    url: `redis://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    servers,
    remove: async () => {
      for (const server of servers) await server.remove()
    },
  }
}

async function launch(
  program: string,
  folder: TemporaryFolder,
  port: number,
  settings: readonly string[],
): Promise<Bun.Subprocess> {
  const child = Bun.spawn(
    boundToTest([
      program,
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path],
      // The second port of a cluster's node; the usual distance of 10000 may exceed the highest
      // port.
      ...[
        '--save',
        '',
        '--appendonly',
        'no',
        '--daemonize',
        'no',
        '--logfile',
        `${folder.path}/log`,
      ],
      ...settings,
    ]),
    { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  )
  try {
    await pollUntil('redis-server', async () => {
      if (child.exitCode !== null)
        throw new Error(`redis-server ended: ${await Bun.file(`${folder.path}/log`).text()}`)
      return await answers(port)
    })
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return child
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write('PING\r\n'))
    const end = (isAnswered: boolean) => {
      socket.destroy()
      resolve(isAnswered)
    }
    socket.once('data', () => end(true))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
