import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { createDashboard } from './create-dashboard.ts'

const PAGE = '<!doctype html><title>Gatehouse</title>'
const SCRIPT = 'export const x = 1\n'

let folder: string
let dashboard: ReturnType<typeof createDashboard>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-dashboard-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), PAGE)
  await writeFile(join(folder, 'assets/main-abc.js'), SCRIPT)
  await writeFile(join(folder, 'assets/main-abc.js.gz'), gzipSync(SCRIPT))
  await writeFile(join(folder, 'assets/main-abc.js.br'), brotliCompressSync(SCRIPT))
  dashboard = createDashboard(folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  return await dashboard(new Request(`http://gateway/dashboard/${path}`, options), path)
}

describe('the pages', () => {
  test.each(['', 'keys', 'gates/gpt.5', 'logs/01J', 'no/such/page'])(
    '"%s" gets the single page',
    async (path) => {
      const response = await ask(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await response.text()).toBe(PAGE)
    },
  )

  test('are revalidated each time, so that a new version shows at once', async () => {
    expect((await ask('keys')).headers.get('cache-control')).toBe('no-cache')
  })

  test('load nothing from elsewhere and cannot be framed', async () => {
    const { headers } = await ask('')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('http')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('give instructions if they were not built', async () => {
    const response = await createDashboard(join(folder, 'nothing'))(
      new Request('http://gateway/dashboard'),
      '',
    )
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('make dashboard')
  })

  test('take GET and HEAD alone', async () => {
    const response = await ask('keys', { method: 'POST' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD')
    expect((await ask('keys', { method: 'HEAD' })).status).toBe(200)
  })
})

describe('their files', () => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['identity', null],
  ])('go out in an encoding that the browser accepts: %s', async (accepted, encoding) => {
    const response = await ask('assets/main-abc.js', { headers: { 'accept-encoding': accepted } })
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(response.headers.get('content-type')).toStartWith('text/javascript')
    expect(response.headers.get('vary')).toBe('accept-encoding')
    expect(response.headers.get('cache-control')).toContain('immutable')
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(bytes.length).toBeGreaterThan(0)
  })

  test('are 404 if they are missing, not the page: an old page must not run HTML as a script', async () => {
    expect((await ask('assets/main-old.js')).status).toBe(404)
  })

  test.each([
    'assets/../../package.json',
    'assets/..%2f..%2fpackage.json',
    '../package.json',
    'assets/./x',
    '.sources',
  ])('no path leads out of their folder: %s', async (path) => {
    const response = await ask(path)
    const text = await response.text()
    expect([404, 200]).toContain(response.status)
    if (response.status === 200) expect(text).toBe(PAGE)
  })
})
