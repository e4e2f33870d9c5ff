/**
 * Signals that anybody's tools send to a server: none of SIGHUP, SIGUSR1 and SIGUSR2 ends it, and
 * SIGHUP reads the configuration again.
 */
import { afterEach, expect, test } from 'bun:test'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pollUntil } from '../../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

let gatehouse: Gatehouse | undefined
let folder: TemporaryFolder | undefined

afterEach(async () => {
  await gatehouse?.remove()
  await folder?.remove()
  gatehouse = undefined
  folder = undefined
})

const PLANS = (requestsPerMinute: number) =>
  `plans:\n  default: small\n  definitions:\n    small:\n      requestsPerMinute: ${requestsPerMinute}\n`
const LIMIT = 'x-ratelimit-limit-requests'

async function start(text: string): Promise<{ readonly server: Gatehouse; readonly file: string }> {
  folder = await createTemporaryFolder()
  const file = join(folder.path, 'gatehouse.yaml')
  await writeFile(file, text)
  gatehouse = await startGatehouse({
    sandbox: true,
    environment: {
      GATEHOUSE_CONFIG: file,
      GATEHOUSE_LOG_LEVEL: '',
      GATEHOUSE_REQUESTS_PER_MINUTE: '',
    },
  })
  return { server: gatehouse, file }
}

function call({ url, key }: Gatehouse, body: object = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }], ...body }),
  })
}

async function limitOf(server: Gatehouse): Promise<string | null> {
  const response = await call(server)
  await response.arrayBuffer()
  return response.headers.get(LIMIT)
}

/** Each reading of the file is logged once. */
async function reload(server: Gatehouse, said: string): Promise<string> {
  const before = server.output().split(said).length
  server.signal('SIGHUP')
  await pollUntil(`the line "${said}"`, () => server.output().split(said).length > before)
  return (
    server
      .output()
      .split('\n')
      .findLast((line) => line.includes(said)) ?? ''
  )
}

test('SIGUSR1 and SIGUSR2 do nothing, and a stream goes on to its end', async () => {
  const { server } = await start('')
  const response = await call(server, {
    stream: true,
    messages: [{ role: 'user', content: 'word '.repeat(500) }],
  })
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGUSR1', 'SIGUSR2'] as const) server.signal(signal)
  expect(await response.text()).toContain('data: [DONE]')
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect(await server.stop()).toBe(0)
})

test('SIGHUP applies plans and the log level of the configuration file, and logs that', async () => {
  const { server, file } = await start(PLANS(111))
  expect(await limitOf(server)).toBe('111')
  await writeFile(file, `${PLANS(222)}logLevel: debug\n`)
  const line = await reload(server, 'the configuration was reloaded')
  expect(JSON.parse(line)).toMatchObject({ taken: ['plans', 'logLevel'], waitsForRestart: [] })
  expect(await limitOf(server)).toBe('222')
})

test('SIGHUP logs the settings that wait for a restart', async () => {
  const { server, file } = await start('')
  await writeFile(
    file,
    'providers:\n  - id: mine\n    name: Mine\n    baseUrl: https://mine.example/v1\n',
  )
  const line = await reload(server, 'the configuration was reloaded')
  expect(JSON.parse(line)).toMatchObject({ waitsForRestart: ['providers.mine'] })
})

test('SIGHUP on an invalid or missing file logs the reason, and changes nothing', async () => {
  const { server, file } = await start(PLANS(111))
  await writeFile(file, 'plans:\n  default: nobody\n')
  const wrong = await reload(server, 'nothing has changed')
  expect(JSON.parse(wrong).reason).toContain(`${file}:2: plans.default`)
  await rm(file)
  const gone = await reload(server, 'nothing has changed')
  expect(JSON.parse(gone).reason).toContain('cannot be read')
  expect(await limitOf(server)).toBe('111')
  await writeFile(file, PLANS(333))
  await reload(server, 'the configuration was reloaded')
  expect(await limitOf(server)).toBe('333')
})

test('many signals at once are handled one after the other', async () => {
  const { server, file } = await start(PLANS(111))
  await writeFile(file, PLANS(444))
  for (let sent = 0; sent < 50; sent++) server.signal(sent % 3 === 0 ? 'SIGUSR2' : 'SIGHUP')
  await pollUntil('the new limit', async () => (await limitOf(server)) === '444')
  expect(await server.stop()).toBe(0)
})
