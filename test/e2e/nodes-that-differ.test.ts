/**
 * Nodes on one Postgres whose settings differ where all have to have the same: whoever starts the
 * second, or asks `doctor`, hears of it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { examine, found } from '../support/examine.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(120_000)

const FIRST = {
  GATEHOUSE_PUBLIC_URL: 'https://gatehouse.example',
  GATEHOUSE_RETENTION_DAYS: '90',
}

describeIf(findPostgres() !== undefined, 'needs Postgres')('nodes on one Postgres', () => {
  const key = createBootstrapKey()
  const started: Gatehouse[] = []
  let scene: PostgresScene
  let url: string
  const start = async (environment: Record<string, string>): Promise<Gatehouse> => {
    const node = await startGatehouse({
      key,
      environment: {
        ...PATIENT_WITH_DATABASE,
        GATEHOUSE_MASTER_KEY: '01'.repeat(32),
        DATABASE_URL: url,
        ...environment,
      },
    })
    started.push(node)
    return node
  }
  beforeAll(async () => {
    scene = await createPostgresScene()
    url = await scene.createDatabase()
    await start(FIRST)
  })
  afterAll(async () => {
    for (const node of started) await node.remove()
    await scene?.remove()
  })

  test('a node that starts beside one with other settings names each with both values', async () => {
    const second = await start({
      GATEHOUSE_PUBLIC_URL: 'https://other.example',
      GATEHOUSE_REQUESTS_PER_MINUTE: '7',
      // Machines may differ in these.
      GATEHOUSE_MAX_BODY_BYTES: '1000000',
    })
    expect(differencesOf(second)).toEqual([
      ['GATEHOUSE_PUBLIC_URL', 'https://other.example', 'https://gatehouse.example'],
      ['GATEHOUSE_REQUESTS_PER_MINUTE', '7', '1000000'],
      ['GATEHOUSE_RETENTION_DAYS', '30', '90'],
    ])
    expect(await second.stop()).toBe(0)
  })

  test('a node with the same settings reports nothing, nor one beside an older version', async () => {
    await scene.server.run(
      `INSERT INTO nodes (id, incarnation, host, version, started_at, last_seen, applied_seq, lease_until, grace_until, needs_redis)
       SELECT 'node_old', incarnation, host, '0.0.1', started_at, last_seen, applied_seq, 0, 0, needs_redis FROM nodes LIMIT 1`,
      new URL(url).pathname.slice(1),
    )
    const second = await start(FIRST)
    expect(differencesOf(second)).toEqual([])
    expect(await second.stop()).toBe(0)
  })

  test('a node whose clock is not the database’s says so when it starts', async () => {
    const database = new URL(url).pathname.slice(1)
    const clocksOf = async () => {
      const node = await start(FIRST)
      expect(await node.stop()).toBe(0)
      return node.output().match(/clock: this machine's is [^.]*/g)
    }
    expect(await clocksOf()).toBeNull()
    for (const [shift, side] of [
      ['+ 1 hour', 'behind'],
      ['- 1 hour', 'ahead of'],
    ]) {
      await scene.server.run(
        `CREATE SCHEMA IF NOT EXISTS skewed;
         CREATE OR REPLACE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
           $$ SELECT pg_catalog.clock_timestamp() + interval '${shift}' $$;
         ALTER DATABASE ${database} SET search_path = skewed, pg_catalog, public`,
        database,
      )
      expect(await clocksOf()).toEqual([
        expect.stringMatching(new RegExp(`^clock: this machine's is 3[56]\\d\\d s ${side} the`)),
      ])
    }
    await scene.server.run(`ALTER DATABASE ${database} RESET search_path`, database)
  })

  test('doctor compares its environment with every node that is there, and shows no secret', async () => {
    const folder = await createTemporaryFolder()
    try {
      const here = { GATEHOUSE_DATA_DIR: folder.path, DATABASE_URL: url }
      const differing = await examine({ ...here, REDIS_URL: 'redis://:planted@127.0.0.1:1' })
      const warnings = found(differing, 'nodes', 'warn')
      expect(warnings).toContain('GATEHOUSE_RETENTION_DAYS is 90 at another node and 30 here')
      expect(warnings).toContain('REDIS_URL is not set at another node and set here')
      expect(differing.said).not.toContain('planted')
      const same = { ...here, ...FIRST, GATEHOUSE_REQUESTS_PER_MINUTE: '1000000' }
      const agreeing = await examine({ ...same, GATEHOUSE_CONCURRENT_CALLS: '10000' })
      expect(found(agreeing, 'nodes', 'ok')).toContain('1 on this database')
    } finally {
      await folder.remove()
    }
  })
})

/** @returns setting, value here, value there */
function differencesOf(node: Gatehouse): readonly (readonly string[])[] {
  return node
    .output()
    .split('\n')
    .filter((line) => line.includes('settings: another node'))
    .map((line) => JSON.parse(line) as { setting: string; here: string; there: string })
    .map(({ setting, here, there }) => [setting, here, there])
    .sort()
}
