/**
 * The counts of quotas and budgets equal the ledger, even when the process is killed under load.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { IS_LONG } from '../support/chaos-form.ts'
import { controlPlaneCall, listLogRows } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  startGatehouse,
  UNHURRIED_SHIPPING,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

const ROUNDS = IS_LONG ? 12 : 4
const CLIENTS = 8
/** The pause of each client between two calls: one without it keeps a core busy. */
const PAUSE_MS = IS_LONG ? 0 : 20

let folder: TemporaryFolder
const key = createBootstrapKey()
beforeAll(async () => {
  folder = await createTemporaryFolder()
})
afterAll(() => folder.remove())

function start(): Promise<Gatehouse> {
  return startGatehouse({
    sandbox: true,
    dataFolder: folder.path,
    key,
    environment: UNHURRIED_SHIPPING,
  })
}

async function usedOf(gatehouse: Gatehouse, path: string): Promise<number> {
  const body = (await (await controlPlaneCall(gatehouse, 'GET', path)).json()) as {
    used?: { tokens: number }
    quota?: { tokens: { used: number; reserved: number } }
  }
  return body.quota?.tokens.used ?? body.used?.tokens ?? Number.NaN
}

async function unshippedBytes(gatehouse: Gatehouse): Promise<number> {
  const { checks } = (await (await fetch(`${gatehouse.url}/readyz`)).json()) as {
    checks: { ledger: { unshippedBytes: number } }
  }
  return checks.ledger.unshippedBytes
}

async function call(gatehouse: Gatehouse, number: number): Promise<boolean> {
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      gate_id: 'demo',
      stream: number % 2 === 0,
      messages: [{ role: 'user', content: 'word '.repeat(number % 50) }],
    }),
  }).catch(() => undefined)
  return (await response?.text().catch(() => undefined)) !== undefined
}

test('SIGKILL under load: after each start the counters are exactly the sum of the rows', async () => {
  let budgetId: string | undefined
  let before = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const gatehouse = await start()
    try {
      if (budgetId === undefined) {
        const body = { gateId: 'demo', limitTokens: 1_000_000_000, period: 'total' }
        const made = await controlPlaneCall(gatehouse, 'POST', '/v1/budgets', body)
        budgetId = ((await made.json()) as { id: string }).id
      }
      // Nothing was called yet: what is counted comes from the store and the journal alone.
      const used = await usedOf(gatehouse, '/v1/account')
      expect(await usedOf(gatehouse, `/v1/budgets/${budgetId}`)).toBe(used)
      await pollUntil(
        'an empty journal',
        async () => (await unshippedBytes(gatehouse)) === 0 || undefined,
      )
      const rows = await listLogRows(gatehouse)
      expect(used).toBe(
        rows.reduce(
          (sum, row) => sum + (row.usage?.inputTokens ?? 0) + (row.usage?.outputTokens ?? 0),
          0,
        ),
      )
      if (round > 0) expect(used).toBeGreaterThan(before)
      before = used

      let isOver = false
      let answered = 0
      const clients = Array.from({ length: CLIENTS }, async (_, client) => {
        for (let number = client; !isOver; number += CLIENTS) {
          if (!(await call(gatehouse, number))) return
          answered += 1
          if (PAUSE_MS > 0) await Bun.sleep(PAUSE_MS)
        }
      })
      await pollUntil('the first answers', () => answered > CLIENTS || undefined)
      // Some rounds end before the first shipment, some in the middle of one, some after it.
      await Bun.sleep(Math.random() * 1500)
      await gatehouse.kill()
      isOver = true
      await Promise.all(clients)
    } finally {
      await gatehouse.remove()
    }
  }
}, 300_000)
