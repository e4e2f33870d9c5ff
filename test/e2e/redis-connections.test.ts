/**
 * The forms of REDIS_URL that need more than one plain server: TLS, Sentinel, and a cluster on
 * which limits are kept.
 */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { boundToTest } from '../support/bound-to-test.ts'
import { findFreePort } from '../support/free-port.ts'
import { pollUntil } from '../support/poll-until.ts'
import { findRedis, startRedis, startRedisCluster } from '../support/redis-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { LOCALHOST_CERTIFICATE } from '../support/tls-certificates.ts'

setDefaultTimeout(180_000)

describeIf(findRedis() !== undefined, 'needs redis-server')('a gateway reaches', () => {
  const cleanups: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function start(environment: Record<string, string>): Promise<Gatehouse> {
    const gatehouse = await startGatehouse({ sandbox: true, environment })
    cleanups.push(() => gatehouse.remove())
    return gatehouse
  }

  async function redisOf(gatehouse: Gatehouse): Promise<Record<string, unknown>> {
    const answer = (await (await fetch(`${gatehouse.url}/readyz`)).json()) as {
      checks: { redis: Record<string, unknown> }
    }
    return answer.checks.redis
  }

  /** A node on a busy machine may be up before its Redis has answered. */
  async function whenShared(gatehouse: Gatehouse): Promise<void> {
    await pollUntil('limits that are shared', async () => {
      const { status, limits } = await redisOf(gatehouse)
      return status === 'ok' && limits === 'shared'
    })
  }

  async function call(gatehouse: Gatehouse): Promise<number> {
    const answer = await fetch(`${gatehouse.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', input: 'hello' }),
    })
    await answer.arrayBuffer()
    return answer.status
  }

  test('a server over TLS with a certificate that it can check, and no other', async () => {
    const folder = await createTemporaryFolder()
    cleanups.push(() => folder.remove())
    const [cert, key] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')]
    await Bun.write(cert, LOCALHOST_CERTIFICATE.cert)
    await Bun.write(key, LOCALHOST_CERTIFICATE.key)
    const port = await findFreePort()
    const redis = await startRedis([
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert],
    ])
    cleanups.push(() => redis.remove())
    const url = `rediss://localhost:${port}`
    const trusting = await start({ REDIS_URL: url, NODE_EXTRA_CA_CERTS: cert })
    await whenShared(trusting)
    const doubting = await start({ REDIS_URL: url })
    expect(await redisOf(doubting)).toMatchObject({ status: 'away', limits: 'share' })
    expect(await call(doubting)).toBe(200)
  })

  test('the master of sentinels', async () => {
    const redis = await startRedis()
    cleanups.push(() => redis.remove())
    const folder = await createTemporaryFolder()
    const port = await findFreePort()
    const file = join(folder.path, 'sentinel.conf')
    const lines = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder.path}`, 'logfile sentinel.log']
    await Bun.write(
      file,
      [...lines, `sentinel monitor main 127.0.0.1 ${redis.port} 1`, ''].join('\n'),
    )
    const sentinel = Bun.spawn(boundToTest([findRedis() ?? '', file, '--sentinel']), {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    cleanups.push(async () => {
      sentinel.kill('SIGKILL')
      await sentinel.exited
      await folder.remove()
    })
    const gatehouse = await start({ REDIS_URL: `redis+sentinel://127.0.0.1:${port}/main` })
    await whenShared(gatehouse)
    expect(await call(gatehouse)).toBe(200)
    expect(await redis.client.keys('gatehouse:key:*')).toHaveLength(1)
  })

  test('a cluster of three masters, with all keys of a script in one place', async () => {
    const cluster = await startRedisCluster()
    cleanups.push(() => cluster.remove())
    const gatehouse = await start({
      REDIS_URL: cluster.url,
      GATEHOUSE_REQUESTS_PER_MINUTE: '5',
      GATEHOUSE_CONCURRENT_CALLS: '2',
    })
    await whenShared(gatehouse)
    const statuses: number[] = []
    for (let sent = 0; sent < 8; sent++) statuses.push(await call(gatehouse))
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    const keys = (await Promise.all(cluster.servers.map(({ client }) => client.keys('*')))).flat()
    expect(keys.some((name) => /^gatehouse:key:\{key_/.test(name))).toBe(true)
    // Usage goes there with the next round.
    await pollUntil('the quota', async () => {
      const all = await Promise.all(
        cluster.servers.map(({ client }) => client.keys('gatehouse:used-nano:*')),
      )
      return all.flat().length > 0
    })
    await whenShared(gatehouse)
  })
})
