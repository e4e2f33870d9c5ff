/**
 * The rounds in which docs/operations/backup.md changes the master key of several nodes: no node
 * ever meets what it cannot read.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { call, createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { runCli } from '../support/run-cli.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(120_000)

const OLD = '01'.repeat(32)
const NEW = '02'.repeat(32)
const FIRST = { GATEHOUSE_MASTER_KEY: OLD, GATEHOUSE_MASTER_KEY_PREVIOUS: NEW }
const SECOND = { GATEHOUSE_MASTER_KEY: NEW, GATEHOUSE_MASTER_KEY_PREVIOUS: OLD }

describeIf(findPostgres() !== undefined, 'needs Postgres')('nodes on one Postgres', () => {
  const key = createBootstrapKey()
  let scene: PostgresScene
  let upstream: RawUpstream
  let url: string
  beforeAll(async () => {
    scene = await createPostgresScene()
    url = await scene.createDatabase()
    upstream = await startRawUpstream()
    upstream.answer(
      jsonAnswer(200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] }),
    )
  })
  afterAll(async () => {
    await upstream?.stop()
    await scene?.remove()
  })

  async function withNode(
    masterKeys: Record<string, string>,
    work: (node: Gatehouse) => Promise<void>,
  ): Promise<void> {
    const node = await startGatehouse({
      key,
      environment: {
        ...PATIENT_WITH_DATABASE,
        DATABASE_URL: url,
        OPENAI_BASE_URL: `${upstream.url}/v1`,
        ...masterKeys,
      },
    })
    try {
      await work(node)
      // As an operator replaces a node: it says farewell, and what changes next does not wait for
      // it.
      expect(await node.stop()).toBe(0)
    } finally {
      await node.remove()
    }
  }

  async function setCredential(node: Gatehouse, credential: string): Promise<void> {
    const set = await controlPlaneCall(node, 'PUT', '/v1/provider-keys/openai', { key: credential })
    expect([200, 201]).toContain(set.status)
  }

  async function expectAskedWith(node: Gatehouse, credential: string): Promise<void> {
    expect((await call(node, key, 'assistant')).status).toBe(200)
    expect(upstream.last().headers.authorization).toBe(`Bearer ${credential}`)
  }

  test('read every credential in every round of a rotation', async () => {
    await withNode({ GATEHOUSE_MASTER_KEY: OLD }, async (node) => {
      await createGate(node, 'assistant', 'openai/gpt-4o')
      await setCredential(node, 'sk-planted-before-000000')
    })
    await withNode(FIRST, async (node) => expectAskedWith(node, 'sk-planted-before-000000'))
    await withNode(SECOND, async (node) => {
      await expectAskedWith(node, 'sk-planted-before-000000')
      await setCredential(node, 'sk-planted-between-00000')
    })
    await withNode(FIRST, async (node) => expectAskedWith(node, 'sk-planted-between-00000'))
    // The reason for the first round.
    await withNode({ GATEHOUSE_MASTER_KEY: OLD }, async (node) => {
      expect((await call(node, key, 'assistant')).status).toBe(502)
    })

    const folder = await createTemporaryFolder()
    const environment = { GATEHOUSE_DATA_DIR: folder.path, DATABASE_URL: url, ...SECOND }
    try {
      expect(await runCli(['master-key', 'rotate'], { environment })).toMatchObject({ exitCode: 0 })
      expect(await runCli(['master-key', 'status'], { environment })).toMatchObject({ exitCode: 0 })
    } finally {
      await folder.remove()
    }
    await withNode({ GATEHOUSE_MASTER_KEY: NEW }, async (node) =>
      expectAskedWith(node, 'sk-planted-between-00000'),
    )
  })
})
