/**
 * A whole gateway that answers a number of calls one after the other, for files-of-a-call.ts, which
 * runs it under coverage.
 */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { composeGatehouse } from '../src/compose/compose.ts'
import { readSettings } from '../src/config/settings.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../src/core/ids.ts'
import { Secret } from '../src/core/secret.ts'
import { boundByAddress } from '../src/doors/bound-by-address.ts'
import { listen } from '../src/doors/listen.ts'
import { createLog } from '../src/telemetry/log.ts'
import { chatBody } from './bodies.ts'
import { ANSWER } from './upstream.ts'
// Records are shipped by the batch, after their calls.
import './without-shipping.ts'

const KEY = `sk-svc-${'b'.repeat(64)}`

test('every call is answered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'))
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(ANSWER, { headers: { 'content-type': 'application/json' } }),
  })
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder,
    OPENAI_API_KEY: 'any',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    GATEHOUSE_REQUESTS_PER_MINUTE: '1000000000',
  })
  const gatehouse = await composeGatehouse({
    settings,
    log: createLog('silent'),
    hasTelemetry: true,
  })
  const door = boundByAddress(gatehouse.serve, {
    requests: settings.requestsPerAddress,
    clientAddressHeader: settings.users.clientAddressHeader,
  })
  const listener = listen({ host: '127.0.0.1', port: 0 }, door)
  try {
    await gatehouse.keys.ensureFirst({ accountId: DEFAULT_ACCOUNT, name: 'bench' }, new Secret(KEY))
    const targets = [{ model: 'openai/gpt-4o' }]
    await gatehouse.gates.create(DEFAULT_ACCOUNT, {
      id: 'bench' as GateId,
      description: '',
      targets,
      timeoutMs: null,
      maxRetries: 0,
    })
    for (let call = 0; call < Number(process.env.BENCH_CALLS); call += 1) {
      const answer = await fetch(`${listener.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: chatBody('bench', 1024),
      })
      expect(await answer.text()).toBe(ANSWER)
    }
  } finally {
    await listener.stop()
    await gatehouse.close()
    await upstream.stop(true)
    rmSync(folder, { recursive: true, force: true })
  }
})
