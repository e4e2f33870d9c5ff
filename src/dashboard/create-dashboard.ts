/** `/dashboard`: serves the built pages, compressed as the browser accepts them. */
import { join } from 'node:path'

/** Only the gateway's own files. Radix and the charts write `style` elements and attributes. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const SECURITY_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const

const HASHED = /^assets\/[\w.-]+$/
const FONT = /^fonts\/[\w.-]+$/
const FOR_EVER = 'public, max-age=31536000, immutable'
const FOR_A_DAY = 'public, max-age=86400'

const PAGE = 'index.html'
const PAGE_TYPE = 'text/html; charset=utf-8'
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title>
<body style="font: 15px/1.6 system-ui; max-width: 36em; margin: 4em auto; padding: 0 1em">
<h1>The dashboard is not built</h1>
<p>Run <code>make dashboard</code> in Gatehouse's folder, then reload this page. Everything else works without it.</p>`

export type OpenFile = (path: string) => Promise<Blob | undefined>

export function createDashboard(
  source: string | OpenFile,
): (request: Request, path: string) => Promise<Response> {
  const open: OpenFile = typeof source === 'string' ? (path) => openIn(source, path) : source

  return async function handle(request, path) {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
    }
    if (HASHED.test(path)) return await answerFile(request, path, FOR_EVER)
    if (FONT.test(path)) return await answerFile(request, path, FOR_A_DAY)
    // Every other address belongs to a page, and the script in the page knows which.
    return await answerPage(request)
  }

  async function answerFile(
    request: Request,
    path: string,
    cacheControl: string,
  ): Promise<Response> {
    return (
      (await openEncoded(request, path, cacheControl)) ??
      new Response('Not found\n', { status: 404 })
    )
  }

  async function answerPage(request: Request): Promise<Response> {
    const response = await openEncoded(request, PAGE, 'no-cache')
    if (response !== undefined) return response
    return new Response(NOT_BUILT, {
      status: 503,
      headers: { ...SECURITY_HEADERS, 'content-type': PAGE_TYPE, 'cache-control': 'no-store' },
    })
  }

  async function openEncoded(request: Request, path: string, cacheControl: string) {
    const accepted = request.headers.get('accept-encoding') ?? ''
    const plain = await open(path)
    if (plain === undefined) return undefined
    const headers = new Headers({
      ...SECURITY_HEADERS,
      'content-type': path === PAGE ? PAGE_TYPE : plain.type,
      'cache-control': cacheControl,
      vary: 'accept-encoding',
    })
    for (const { name, suffix } of ENCODINGS) {
      const packed = accepted.includes(name) ? await open(path + suffix) : undefined
      if (packed === undefined) continue
      headers.set('content-encoding', name)
      return new Response(packed, { headers })
    }
    return new Response(plain, { headers })
  }
}

async function openIn(folder: string, path: string): Promise<Blob | undefined> {
  const file = Bun.file(join(folder, path))
  return (await file.exists()) ? file : undefined
}
