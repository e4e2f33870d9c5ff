/** The price of a call follows the address that the operator gave for its provider. */
import { expect, test } from 'bun:test'
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts'
import { loadSettings } from '../config/load-settings.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse } from './compose.ts'

/** 1,000 tokens in and 100 out of `gemini-3-pro-preview`, in US dollars. */
const LIST = 0.0032

/** @returns the cost in US dollars that counted against the account's plan */
async function costAt(location: string): Promise<number> {
  const folder = await createTemporaryFolder()
  await using upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      Response.json({
        candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100 },
      }),
  })
  await Bun.write(
    `${folder.path}/gatehouse.yaml`,
    'plans: {default: money, definitions: {money: {monthlySpendUsd: 5}}}',
  )
  const settings = await loadSettings({
    GATEHOUSE_DATA_DIR: folder.path,
    VERTEX_API_KEY: 'planted',
    VERTEX_BASE_URL: `http://127.0.0.1:${upstream.port}/v1/projects/p/locations/${location}/publishers/google`,
  })
  const log = createLog('silent')
  const gatehouse = await composeGatehouse({ settings, log, plans: settings.plans })
  try {
    const targets = [{ model: 'vertex/gemini-3-pro-preview' }]
    const gate = { id: 'demo' as GateId, description: '', targets, timeoutMs: null, maxRetries: 0 }
    await gatehouse.gates.create(DEFAULT_ACCOUNT, gate)
    const { key } = await gatehouse.keys.create({ accountId: DEFAULT_ACCOUNT, name: 'test' })
    const headers = { authorization: `Bearer ${key.reveal()}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] })
    const answer = await gatehouse.handle(
      new Request('http://gatehouse.test/v1/chat/completions', { method: 'POST', headers, body }),
    )
    expect(answer.status).toBe(200)
    await answer.text()
    const account = await gatehouse.handle(
      new Request('http://gatehouse.test/v1/account', { headers }),
    )
    const { quota } = (await account.json()) as {
      readonly quota: { readonly spend: { readonly used: number } }
    }
    return quota.spend.used
  } finally {
    await gatehouse.close()
    await folder.remove()
  }
}

test('a region costs a tenth more, and the global location the list’s price', async () => {
  expect(await costAt('global')).toBe(LIST)
  expect(await costAt('europe-west4')).toBeCloseTo(LIST * 1.1, 9)
})
