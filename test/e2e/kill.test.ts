/**
 * A call that a client has seen complete is in the ledger, even when the process is killed the next
 * instant (design §6).
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startLoad } from '../support/call-load.ts'
import { IS_LONG } from '../support/chaos-form.ts'
import { type LogRow, listLogRows } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  createBootstrapKey,
  startGatehouse,
  UNHURRIED_SHIPPING,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const ROUNDS = IS_LONG ? 20 : 3
const CLIENTS = 12
/** Until the kill is near: a core is left for others. */
const PAUSE_MS = IS_LONG ? 0 : 20

let folder: TemporaryFolder
const key = createBootstrapKey()
beforeAll(async () => {
  folder = await createTemporaryFolder()
})
afterAll(() => folder.remove())

test(`SIGKILL under load, ${ROUNDS} times: every answer seen complete has exactly one row`, async () => {
  const complete = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    const gatehouse = await startGatehouse({
      sandbox: true,
      dataFolder: folder.path,
      key,
      environment: UNHURRIED_SHIPPING,
    })
    const load = startLoad(gatehouse, { clients: CLIENTS, complete, pauseMs: PAUSE_MS })
    const before = complete.size
    await pollUntil('the first answers', () => complete.size > before + CLIENTS)
    // Some rounds end before the first shipment, some in the middle of one, some after it.
    await Bun.sleep(Math.random() * 1500)
    await load.hurry()
    await gatehouse.kill()
    await load.stop()
  }

  const gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path, key })
  try {
    const rows = await pollUntil(
      'the rows of every complete answer',
      async (): Promise<LogRow[] | undefined> => {
        const found = await listLogRows(gatehouse)
        const ids = new Set(found.map((row) => row.id))
        return [...complete].every((id) => ids.has(id)) ? found : undefined
      },
      { timeoutMs: 60_000, intervalMs: 250 },
    )
    const counts = new Map<string, number>()
    for (const row of rows) counts.set(row.id, (counts.get(row.id) ?? 0) + 1)
    expect(complete.size).toBeGreaterThan(ROUNDS * CLIENTS)
    expect([...counts.values()].every((count) => count === 1)).toBeTrue()
    for (const row of rows) if (complete.has(row.id)) expect(row.outcome).toBe('succeeded')
  } finally {
    await gatehouse.remove()
  }
}, 300_000)
