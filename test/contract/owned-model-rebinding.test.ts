/**
 * A whole gateway whose names lead where the test says: an owned model's name that turns inwards is
 * not followed.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { readSettings } from '../../src/config/settings.ts'
import { generateApiKey } from '../../src/core/api-key.ts'
import { DEFAULT_ACCOUNT } from '../../src/core/ids.ts'
import { composeGatehouse, type Gatehouse } from '../../src/run/compose.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const NAME = 'models.vendor.com'
const key = generateApiKey()

let folder: TemporaryFolder
let gatehouse: Gatehouse
/** The answers for the name, in the order of the look-ups; the last one repeats. */
let leadsTo: (readonly string[] | 'nowhere')[]
let asked: string[] = []
let delayMs = 0
/** Two servers inside: only the first one's port is trusted. */
let trusted: Inner
let other: Inner

beforeAll(async () => {
  folder = await createTemporaryFolder()
  trusted = await listen()
  other = await listen()
  const settings = readSettings({
    GATEHOUSE_DATA_DIR: folder.path,
    GATEHOUSE_LOG_LEVEL: 'silent',
    GATEHOUSE_TRUSTED_HOSTS: `127.0.0.1:${trusted.port},*.trusted.vendor.com`,
  })
  gatehouse = await composeGatehouse({
    settings,
    log: createLog('silent'),
    async resolveHost(hostname) {
      asked.push(hostname)
      await Bun.sleep(delayMs)
      const found = leadsTo.length > 1 ? leadsTo.shift() : leadsTo[0]
      if (found === undefined || found === 'nowhere') throw new Error('ENOTFOUND')
      return found
    },
  })
  gatehouse.keys.addEphemeral(key, { accountId: DEFAULT_ACCOUNT, name: 'test' })
})
beforeEach(() => {
  asked = []
  delayMs = 0
  trusted.heads.length = 0
  trusted.bodies.length = 0
  other.connections = 0
})
afterAll(async () => {
  await gatehouse.close()
  trusted.server.close()
  other.server.close()
  await folder.remove()
})

interface Inner {
  readonly server: Server
  readonly port: number
  readonly heads: string[]
  readonly bodies: string[]
  connections: number
}

async function listen(): Promise<Inner> {
  const heads: string[] = []
  const bodies: string[] = []
  const server = createServer((socket) => {
    inner.connections += 1
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      const [head = '', body = ''] = String(data).split('\r\n\r\n')
      heads.push(head)
      bodies.push(body)
      const length = Buffer.byteLength(CHAT_JSON)
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${CHAT_JSON}`,
      )
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  const inner: Inner = {
    server,
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    heads,
    bodies,
    connections: 0,
  }
  return inner
}

function send(method: string, path: string, body: unknown): Promise<Response> {
  return gatehouse.handle(
    new Request(`http://gatehouse.test${path}`, {
      method,
      headers: { authorization: `Bearer ${key.reveal()}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
}

/** Registers a model at the name and puts it behind a gate of the same id. */
async function register(slug: string, baseUrl: string) {
  const response = await send('POST', '/v1/owned-models', {
    slug,
    dialect: 'openai-chat',
    baseUrl,
    upstreamModelId: 'm',
    credential: 'c',
    pricingInput: 0,
    pricingOutput: 0,
  })
  const answer = {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
  }
  if (answer.status === 201)
    await send('POST', '/v1/gates', { id: slug, targets: [{ model: `owned/${slug}` }] })
  return answer
}

const chat = (gate: string, content = 'Hi') =>
  send('POST', '/v1/chat/completions', { model: gate, messages: [{ role: 'user', content }] })

test('a name without an address when saved and with loopback when called is refused unconnected', async () => {
  leadsTo = ['nowhere']
  const saved = await register('later', `https://${NAME}:${other.port}/v1`)
  expect(saved).toMatchObject({ status: 201, body: { probe: { status: 'unreachable' } } })
  leadsTo = [['127.0.0.1']]
  const response = await chat('later')
  expect(response.status).toBe(502)
  expect(await response.json()).toMatchObject({ error: { code: 'address_refused' } })
  expect(asked.length).toBeGreaterThan(0)
  expect(other.connections).toBe(0)
})

test('a call connects to the checked address, even if the name changes a moment later', async () => {
  leadsTo = [['127.0.0.1'], ['127.0.0.2']]
  const { body } = await register('rebound', `http://${NAME}:${trusted.port}/v1`)
  expect(body).toMatchObject({ probe: { status: 'reachable' } })
  expect((await chat('rebound')).status).toBe(200)
  // All went to the one that was checked, under the name that was registered: the probe's two
  // questions, and the call.
  expect(trusted.heads).toHaveLength(3)
  for (const head of trusted.heads)
    expect(head.toLowerCase()).toContain(`host: ${NAME}:${trusted.port}`)
  expect(other.connections).toBe(0)
})

test('a name with a private address cannot be saved', async () => {
  leadsTo = [['127.0.0.1']]
  expect(await register('inside', 'https://elsewhere.vendor.com/v1')).toMatchObject({
    status: 400,
    body: { error: 'invalid_request', message: expect.stringMatching(/^baseUrl: /) },
  })
  expect(other.connections).toBe(0)
})

test('calls that wait for one look-up keep their own bodies', async () => {
  leadsTo = ['nowhere']
  const slugs = ['slow-a', 'slow-b', 'slow-c']
  for (const slug of slugs)
    await register(slug, `http://${slug}.trusted.vendor.com:${trusted.port}/v1`)
  leadsTo = [['127.0.0.1']]
  delayMs = 30
  await Promise.all(slugs.map((slug) => chat(slug, slug.repeat(20))))
  const contents = trusted.bodies.map((body) => JSON.parse(body).messages[0].content)
  expect(contents.sort()).toEqual(slugs.map((slug) => slug.repeat(20)))
})
