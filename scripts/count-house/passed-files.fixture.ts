/**
 * Starts a gateway and sends the requests of a journey. passed-files.ts runs this file under
 * coverage in the counted checkout, and modules are found by their exports, because older checkouts
 * have other folders.
 */
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Journey } from './passed-files.ts'

const KEY = `sk-svc-${'b'.repeat(64)}`
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
const GATES = '/v1/gates'
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(22)

const OPENAI_ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
}
const ANTHROPIC_ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 7 },
}

const chat = (gate: string) => ({
  method: 'POST',
  path: '/v1/chat/completions',
  body: { model: gate, messages: [{ role: 'user', content: TEXT }] },
})
const REQUESTS: Readonly<
  Record<Journey, { readonly method: string; readonly path: string; readonly body?: object }>
> = {
  call: chat('same'),
  'translated call': chat('other'),
  'gate PATCH': { method: 'PATCH', path: `${GATES}/same`, body: { description: 'new' } },
  'analytics GET': { method: 'GET', path: '/v1/analytics?interval=day' },
}

/** @returns the module that exports the name */
async function load(name: string): Promise<unknown> {
  const exported = new RegExp(`^export (?:async )?(?:function|class|const) ${name}\\b`, 'm')
  const [path, ...others] = [...new Bun.Glob('src/**/*.ts').scanSync()].filter(
    (one) => !one.endsWith('.test.ts') && exported.test(readFileSync(one, 'utf8')),
  )
  if (path === undefined || others.length > 0)
    throw new Error(`${name} is exported by ${others.length + 1} files, or none`)
  return await import(join(process.cwd(), path))
}

test('every request is answered', async () => {
  const { composeGatehouse } = (await load(
    'composeGatehouse',
  )) as typeof import('../../src/run/compose.ts')
  const { readSettings } = (await load(
    'readSettings',
  )) as typeof import('../../src/config/settings.ts')
  const { DEFAULT_ACCOUNT } = (await load(
    'DEFAULT_ACCOUNT',
  )) as typeof import('../../src/core/ids.ts')
  const { Secret } = (await load('Secret')) as typeof import('../../src/core/secret.ts')
  const { boundByAddress } = (await load(
    'boundByAddress',
  )) as typeof import('../../src/gateway/bound-by-address.ts')
  const { listen } = (await load('listen')) as typeof import('../../src/net/listen.ts')
  const { createLog } = (await load('createLog')) as typeof import('../../src/telemetry/log.ts')
  const { Shipper } = (await load('Shipper')) as typeof import('../../src/ledger/shipper.ts')
  Shipper.prototype.start = () => {}
  Shipper.prototype.ship = async () => {}

  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'))
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => Response.json(url.endsWith('/messages') ? ANTHROPIC_ANSWER : OPENAI_ANSWER),
  })
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder,
    OPENAI_API_KEY: 'any',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    ANTHROPIC_API_KEY: 'any',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    GATEHOUSE_REQUESTS_PER_MINUTE: '1000000000',
  })
  const gatehouse = await composeGatehouse({
    settings,
    log: createLog('silent'),
    hasTelemetry: true,
  })
  const server = boundByAddress(gatehouse.serve, {
    requests: settings.requestsPerAddress,
    clientAddressHeader: settings.users.clientAddressHeader,
  })
  const listener = listen({ host: '127.0.0.1', port: 0 }, server)
  const { method, path, body } = REQUESTS[process.env.COUNT_JOURNEY as Journey]
  const send = async (way: string, path: string, content?: object) => {
    const answer = await fetch(listener.url + path, {
      method: way,
      headers: HEADERS,
      ...(content !== undefined && { body: JSON.stringify(content) }),
    })
    const text = await answer.text()
    expect([answer.status, text]).toEqual([way === 'POST' && path === GATES ? 201 : 200, text])
  }
  try {
    await gatehouse.keys.ensureFirst({ accountId: DEFAULT_ACCOUNT, name: 'count' }, new Secret(KEY))
    for (const [id, model] of [
      ['same', 'openai/gpt-4o'],
      ['other', 'anthropic/claude-sonnet-4-5'],
    ])
      await send('POST', GATES, { id, targets: [{ model }] })
    for (let sent = 0; sent < Number(process.env.COUNT_REQUESTS); sent += 1)
      await send(method, path, body)
  } finally {
    await listener.stop()
    await gatehouse.close()
    await upstream.stop(true)
    rmSync(folder, { recursive: true, force: true })
  }
})
