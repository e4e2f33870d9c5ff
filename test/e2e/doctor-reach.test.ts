/**
 * `gatehouse doctor` looks outward: what providers and servers say, or do not say, is told with the
 * cure.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, utimes } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Examined, examine as examineWith, found } from '../support/examine.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder
beforeEach(async () => {
  folder = await createTemporaryFolder()
  // Tests run as root may have any umask.
  await chmod(folder.path, 0o700)
})
afterEach(() => folder.remove())
const examine = (environment: Readonly<Record<string, string>> = {}): Promise<Examined> =>
  examineWith({ GATEHOUSE_DATA_DIR: folder.path, ...environment })

describe('providers', () => {
  /** Answers with what its path's first part says, and notes what it was sent. */
  let upstream: ReturnType<typeof Bun.serve>
  const asked: (string | null)[][] = []
  beforeAll(() => {
    upstream = Bun.serve({
      port: 0,
      idleTimeout: 30,
      fetch(request) {
        const { pathname } = new URL(request.url)
        const { headers } = request
        asked.push([pathname, headers.get('authorization') ?? headers.get('x-api-key')])
        const [, what = ''] = pathname.split('/')
        if (what === 'hang') return new Promise<Response>(() => {})
        return new Response('sk-planted-echo', {
          status: Number(what) || 404,
          headers: { location: 'https://example.com' },
        })
      },
    })
  })
  afterAll(() => upstream.stop(true))

  test.each([
    ['200', 'ok', 'answers and does not refuse the key'],
    ['404', 'ok', 'no list of models'],
    ['401', 'fail', 'refuses the key (401) → Set GROQ_API_KEY'],
    ['403', 'fail', 'refuses the key (403)'],
    ['400', 'warn', 'did not take the request (400)'],
    ['302', 'warn', 'redirect (302), and none is followed → Set GROQ_BASE_URL'],
    ['429', 'warn', 'too often'],
    ['503', 'warn', 'in trouble (503)'],
    ['hang', 'fail', 'did not answer within 3 seconds'],
  ])('one that answers %s', async (what, level, said) => {
    const examined = await examine({
      GROQ_API_KEY: 'sk-planted',
      GROQ_BASE_URL: `${upstream.url.href}${what}/v1`,
    })
    expect(found(examined, 'provider', level)).toMatch(
      new RegExp(`^groq .*${RegExp.escape(said)}`, 'm'),
    )
    expect(examined.said).not.toContain('planted')
  })

  test('each gets a request in its own form, and one with signatures gets no key', async () => {
    const at = (path: string) => `${upstream.url.href}200${path}`
    asked.length = 0
    const examined = await examine({
      ANTHROPIC_API_KEY: 'a-key',
      ANTHROPIC_BASE_URL: at(''),
      OPENAI_API_KEY: 'o-key',
      OPENAI_BASE_URL: at('/v1'),
      BEDROCK_API_KEY: 'AKID:planted',
      BEDROCK_BASE_URL: upstream.url.href,
    })
    expect(examined.said).not.toContain('planted')
    expect(asked.toSorted()).toEqual([
      ['/', null],
      ['/200/v1/models', 'Bearer o-key'],
      ['/200/v1/models', 'a-key'],
    ])
  })

  test('one without a connection, and half-configured ones', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const { port } = closed.address() as { port: number }
    await new Promise((resolve) => closed.close(resolve))
    const examined = await examine({
      GROQ_API_KEY: 'k',
      GROQ_BASE_URL: `http://127.0.0.1:${port}`,
      AZURE_OPENAI_API_KEY: 'k',
      MISTRAL_BASE_URL: 'http://127.0.0.1:1',
    })
    expect(found(examined, 'provider', 'fail')).toMatch(/groq cannot be reached.*GROQ_BASE_URL/)
    const halves = found(examined, 'provider', 'warn')
    expect(halves).toContain(
      'azure-openai has a key (AZURE_OPENAI_API_KEY) and no address → Set AZURE_OPENAI_BASE_URL',
    )
    expect(halves).toContain(
      'mistral has an address (MISTRAL_BASE_URL) and no key → Set MISTRAL_API_KEY',
    )
  })
})

describe('a server', () => {
  let server: Gatehouse
  beforeAll(async () => {
    server = await startGatehouse({ sandbox: true })
  })
  afterAll(() => server.remove())
  const remote = () => ({ GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key })

  test('with a good state: it answers, is ready, accepts the key, and its gates work', async () => {
    const examined = await examine(remote())
    expect(examined.exitCode).toBe(0)
    expect(found(examined, 'server', 'ok')).toMatch(/answers, version.*\n.*ready/)
    expect(found(examined, 'key', 'ok')).toContain('accepted')
    expect(found(examined, 'gates', 'ok')).toContain('1 gates')
    expect(found(examined, 'machine', 'ok')).toContain('run it there too')
    expect(examined.said).not.toContain(server.key)
  })

  test('is found by its data folder, and a key only in this shell is reported', async () => {
    const environment = {
      GATEHOUSE_DATA_DIR: server.dataFolder,
      GATEHOUSE_PORT: new URL(server.url).port,
    }
    const found1 = await examine(environment)
    expect(found(found1, 'server', 'ok')).toContain(server.url)
    expect(found(found1, 'key', 'warn')).toContain('GATEHOUSE_API_KEY is not set')
    expect(found(found1, 'port', 'fail')).toBe('')
    const found2 = await examine({
      ...environment,
      ...remote(),
      GROQ_API_KEY: 'k',
      GROQ_BASE_URL: 'http://127.0.0.1:1',
    })
    expect(found(found2, 'provider', 'warn')).toContain('the running server has no key for groq')
  })

  test.each([
    [createBootstrapKey(), 'in its dashboard, under API keys'],
    ['plänted', 'Set it to the key alone'],
    ['Bearer planted', "the word 'Bearer'"],
  ])(
    'with an unknown key fails, and its cure can be carried out without one',
    async (key, cure) => {
      const examined = await examine({ ...remote(), GATEHOUSE_API_KEY: key })
      expect(found(examined, 'key', 'fail')).toContain(cure)
      expect(examined.said).not.toContain(key)
    },
  )

  test('that does not answer, or is another program, fails', async () => {
    const nobody = await examine({ ...remote(), GATEHOUSE_URL: 'http://127.0.0.1:1' })
    expect(found(nobody, 'server', 'fail')).toContain('no server answers')
    const stranger = Bun.serve({ port: 0, fetch: () => Response.json({ hello: 'planted' }) })
    const other = await examine({ ...remote(), GATEHOUSE_URL: stranger.url.href })
    await stranger.stop(true)
    expect(found(other, 'server', 'fail')).toContain('not as a gateway does')
    const odd = await examine({ ...remote(), GATEHOUSE_URL: 'http://user:planted@127.0.0.1' })
    expect(found(odd, 'server', 'fail')).toContain('GATEHOUSE_URL')
    expect(other.said + odd.said).not.toContain('planted')
  })

  test('of another version, with another clock, or not ready, is reported', async () => {
    const hourAgo = (Date.now() - 3_600_000).toString(16).padStart(12, '0')
    const front = Bun.serve({
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url)
        const headers = { 'x-request-id': `req_${hourAgo}7${'0'.repeat(19)}` }
        if (pathname === '/healthz')
          return Response.json({ status: 'ok', version: '99.0.0' }, { headers })
        if (pathname !== '/readyz')
          return Response.json({ error: 'unauthorized' }, { status: 401, headers })
        return Response.json({ checks: { ledger: { reason: 'ENOSPC' } } }, { status: 503, headers })
      },
    })
    const examined = await examine({ ...remote(), GATEHOUSE_URL: front.url.href })
    await front.stop(true)
    expect(found(examined, 'server', 'warn')).toContain('99.0.0')
    expect(found(examined, 'clock', 'warn')).toMatch(/3600 s behind|359\d s behind|360\d s behind/)
    expect(found(examined, 'server', 'fail')).toContain(
      'not ready: the ledger cannot be written (ENOSPC)',
    )
  })

  test('with a journal that does not reach the database is reported', async () => {
    const journal = join(server.dataFolder, 'journal')
    const old = new Date(Date.now() - 600_000)
    // Two, because the newest is the one that is written.
    for (const [name, time] of [
      ['000000900001.journal', old],
      ['000000900002.journal', new Date()],
    ] as const) {
      await Bun.write(join(journal, name), 'x')
      await utimes(join(journal, name), time, time)
    }
    const examined = await examine({ GATEHOUSE_DATA_DIR: server.dataFolder })
    expect(found(examined, 'journal', 'warn')).toContain('database cannot be written')
  })
})
