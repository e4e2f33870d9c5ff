/**
 * The installation's first account and another one on the platform's credential: who may name
 * things in the provider's account, by the operator's setting.
 */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '../config/settings.ts'
import { generateApiKey } from '../core/api-key.ts'
import { type AccountId, DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import { Secret } from '../core/secret.ts'
import { createLog } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse } from './compose.ts'

const OTHER_ACCOUNT = 'acct_other' as AccountId
const STORE = { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }
const CODEX = { client_metadata: { session_id: 's', thread_id: 't', turn_id: 'u' } }

let folder: string
let gatehouse: Gatehouse | undefined
let upstream: ReturnType<typeof startUpstream>

function startUpstream() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      Response.json({ id: 'resp_1', object: 'response', status: 'completed', output: [] }),
  })
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-first-account-'))
  upstream = startUpstream()
})
afterEach(async () => {
  await gatehouse?.close()
  await upstream.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

async function start(environment: Readonly<Record<string, string>>) {
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder,
    OPENAI_API_KEY: 'sk-planted-0123456789abcdef',
    OPENAI_BASE_URL: upstream.url.href.slice(0, -1),
    ...environment,
  })
  gatehouse = await composeGatehouse({ settings, log: createLog('silent') })
  using database = new Database(join(folder, 'gatehouse.db'))
  database.run("INSERT INTO accounts (id, name, created_at) VALUES (?, 'Other', 1)", [
    OTHER_ACCOUNT,
  ])
  return {
    first: await openAccount(gatehouse, DEFAULT_ACCOUNT),
    other: await openAccount(gatehouse, OTHER_ACCOUNT),
  }
}

/** @returns sends a request for one answer of OpenAI's Responses as that account */
async function openAccount({ keys, gates, handle }: Gatehouse, accountId: AccountId) {
  const key = generateApiKey().reveal()
  await keys.import({ accountId, name: 'test', key: new Secret(key) })
  const targets = [{ model: 'openai/gpt-5' }]
  const named = { displayName: 'Gate', description: '', timeoutMs: null, maxRetries: 0 }
  await gates.create(accountId, { id: 'the-gate' as GateId, targets, ...named })
  return async (members: object) => {
    const response = await handle(
      new Request('http://gatehouse.test/v1/responses', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'the-gate', input: 'hi', ...members }),
      }),
    )
    return { status: response.status, text: await response.text() }
  }
}

const REFUSED = { status: 400, text: expect.stringContaining('provider_account_id') }

describe('a thing in the provider’s account, on the platform’s credential', () => {
  test('is the first account’s to name, and no other’s', async () => {
    const { first, other } = await start({})
    expect(await first(STORE)).toMatchObject({ status: 200 })
    expect(await other(STORE)).toMatchObject(REFUSED)
  })

  test('is nobody’s to name where the first account is a customer’s', async () => {
    const { first, other } = await start({ GATEHOUSE_DEFAULT_ACCOUNT: 'tenant' })
    expect(await first(STORE)).toMatchObject(REFUSED)
    expect(await other(STORE)).toMatchObject(REFUSED)
  })
})

test.each(['operator', 'tenant'])(
  'a session of Codex passes for every account where the first is the %s’s',
  async (owner) => {
    const { first, other } = await start({ GATEHOUSE_DEFAULT_ACCOUNT: owner })
    expect(await first(CODEX)).toMatchObject({ status: 200 })
    expect(await other(CODEX)).toMatchObject({ status: 200 })
  },
)
