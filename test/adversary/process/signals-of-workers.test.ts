/**
 * A signal to the supervisor of several workers: none of them ends, and each reads the
 * configuration again.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunning } from '../../support/is-running.ts'
import { pollUntil } from '../../support/poll-until.ts'
import { findPostgres } from '../../support/postgres-server.ts'
import { findRedis } from '../../support/redis-server.ts'
import { describeIf } from '../../support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'
import {
  createWorkerScene,
  keepCalling,
  startWorkers,
  type WorkerScene,
  workerPids,
} from '../../support/worker-scene.ts'

setDefaultTimeout(120_000)

const READ = 'the configuration was reloaded'

describeIf(
  findPostgres() !== undefined && findRedis() !== undefined,
  'needs Postgres and redis-server',
)('the supervisor of workers', () => {
  let scene: WorkerScene
  let folder: TemporaryFolder
  beforeAll(async () => {
    scene = await createWorkerScene()
    folder = await createTemporaryFolder()
  })
  afterAll(async () => {
    await scene.remove()
    await folder.remove()
  })

  test('at SIGHUP has all of them read the file, at SIGUSR1 and SIGUSR2 does nothing, and no call fails', async () => {
    const file = join(folder.path, 'gatehouse.yaml')
    await writeFile(file, '')
    const gatehouse = await startWorkers(await scene.createStores(), 2, {
      environment: { GATEHOUSE_CONFIG: file, GATEHOUSE_LOG_LEVEL: '' },
    })
    try {
      const pids = [...workerPids(gatehouse).values()]
      expect(pids).toHaveLength(2)
      const complete = new Set<string>()
      const calling = keepCalling(gatehouse, 4, complete)
      await writeFile(file, 'plans:\n  default: pro\n')
      for (const signal of ['SIGUSR1', 'SIGHUP', 'SIGUSR2'] as const) gatehouse.signal(signal)
      // The terminal of a supervisor sends it to its workers too.
      for (const pid of pids) process.kill(pid, 'SIGHUP')
      await pollUntil('three readings', () => gatehouse.output().split(READ).length === 4)
      const lines = gatehouse
        .output()
        .split('\n')
        .filter((line) => line.includes(READ))
      expect(lines.map((line) => JSON.parse(line))).toMatchObject(
        lines.map(() => ({ taken: ['plans'] })),
      )
      const seen = complete.size
      await pollUntil('calls after it', () => complete.size > seen + 50)
      await calling.stop()
      expect(calling.failures()).toBe(0)
      expect([...workerPids(gatehouse).values()]).toEqual(pids)
      expect(pids.every(isRunning)).toBeTrue()
      expect(await gatehouse.stop()).toBe(0)
    } finally {
      await gatehouse.remove()
    }
  })

  test('at SIGHUP without the file logs and counts one error, and no worker drops its plans', async () => {
    const file = join(folder.path, 'lost.yaml')
    await writeFile(file, 'plans: {definitions: {unlimited: {requestsPerMinute: 77}}}\n')
    const token = 'planted-metrics-token'
    const gatehouse = await startWorkers(await scene.createStores(), 2, {
      environment: {
        GATEHOUSE_CONFIG: file,
        GATEHOUSE_REQUESTS_PER_MINUTE: '',
        GATEHOUSE_METRICS_TOKEN: token,
      },
    })
    const metrics = async () => {
      const headers = { authorization: `Bearer ${token}` }
      return await (await fetch(`${gatehouse.url}/metrics`, { headers })).text()
    }
    const refused = (count: number) =>
      new RegExp(`^gatehouse_config_reloads_refused_total ${count}$`, 'm')
    try {
      expect(await metrics()).toMatch(refused(0))
      await rm(file)
      gatehouse.signal('SIGHUP')
      await pollUntil('the refusal is counted', async () => refused(1).test(await metrics()))
      expect(gatehouse.output().split('nothing has changed')).toHaveLength(2)
      // Connections are spread over the workers.
      for (let round = 0; round < 8; round += 1) {
        const headers = { authorization: `Bearer ${gatehouse.key}` }
        const answer = await fetch(`${gatehouse.url}/v1/account`, { headers, keepalive: false })
        expect(await answer.json()).toMatchObject({ limits: { requestsPerMinute: 77 } })
      }
    } finally {
      // Workers whose supervisor is killed may still write into a folder that has been removed.
      await gatehouse.stop()
      await gatehouse.remove()
    }
  })
})
