/**
 * Why an app got a 429, over the whole gateway in this process: the log says so, and the sums of
 * what was used do not.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pollUntil } from '../../test/support/poll-until.ts'
import { readSettings } from '../config/settings.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const KEY = `sk-svc-${'0123456789abcdef'.repeat(4)}`
const PLANS = { default: 'tiny', definitions: { tiny: { requestsPerMinute: 1 } } }

let folder: string
let gatehouse: Gatehouse
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-refusals-'))
  await start()
  await gatehouse.keys.import({ accountId: DEFAULT_ACCOUNT, name: 'test', key: new Secret(KEY) })
})
afterEach(async () => {
  await gatehouse.close()
  rmSync(folder, { recursive: true, force: true })
})

async function start(): Promise<void> {
  const settings = readSettings({ GATEHOUSE_DATA_DIR: folder })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent'), plans: PLANS })
}

function send(path: string, body?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const request = body === undefined ? { headers } : { method: 'POST', headers, body }
  return gatehouse.handle(new Request(`http://gatehouse.test${path}`, request))
}

const read = async (path: string) => (await (await send(path)).json()) as never

test('a refused call is in the log by its id, and counted beyond the bound, even over a restart', async () => {
  const chat = () => send('/v1/chat/completions', '{"model":"nobody","messages":[]}')
  const statuses: number[] = []
  const ids: string[] = []
  for (let index = 0; index < 40; index += 1) {
    const answer = await chat()
    statuses.push(answer.status)
    ids.push(`${answer.headers.get('x-request-id')}`)
  }
  expect(statuses).toEqual([404, ...Array<number>(39).fill(429)])
  const [, refused] = ids
  const row = await pollUntil('the row of the first 429', async () => {
    const found = await send(`/v1/logs/${refused}`)
    return found.status === 200 ? ((await found.json()) as object) : undefined
  })
  expect(row).toMatchObject({
    ...{
      id: refused,
      gateId: '(unknown)',
      sentGateId: null,
      status: 429,
      errorKind: 'rate_limited',
      refusals: 1,
    },
    ...{ outcome: 'failed', attempts: 0, cost: { usd: 0, status: 'exact' } },
  })
  const unknownGate = await pollUntil('the row of the 404', async () => {
    const found = await send(`/v1/logs/${ids[0]}`)
    return found.status === 200 ? ((await found.json()) as object) : undefined
  })
  expect(unknownGate).toMatchObject({
    gateId: '(unknown)',
    sentGateId: 'nobody',
    status: 404,
    refusals: null,
  })
  await gatehouse.close()
  await start()
  const { data } = await pollUntil('all of them', async () => {
    const page: { data: { id: string; refusals: number | null }[] } = await read(
      '/v1/logs?errorKind=rate_limited',
    )
    return page.data.length === 31 ? page : undefined
  })
  expect(data.reduce((sum, { refusals }) => sum + (refusals ?? 0), 0)).toBe(39)
  for (const { id } of data) expect(ids).toContain(id)
  // Only the call that was admitted is one of those that are counted.
  const { data: sums } = (await read('/v1/analytics?interval=all')) as { data: { calls: number }[] }
  expect(sums.map(({ calls }) => calls)).toEqual([1])
  // And all of them are among those that were refused.
  expect(await read('/v1/analytics/refused?interval=all')).toMatchObject({
    data: [
      { status: 429, errorKind: 'rate_limited', calls: 39 },
      { status: 404, errorKind: 'gate_not_found', calls: 1 },
    ],
  })
})
