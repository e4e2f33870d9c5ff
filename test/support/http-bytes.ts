/** Composes and reads HTTP/1.1 messages byte by byte. */

export function parseHeaders(head: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    if (colon === -1) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    const earlier = headers[name]
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`
  }
  return headers
}

export interface BodyBytes {
  readonly bytes: Buffer
  readonly complete: boolean
  readonly consumed: number
}

export function readBody(
  headers: Readonly<Record<string, string>>,
  bytes: Buffer,
  options: { emptyWithoutLength?: boolean } = {},
): BodyBytes {
  if (headers['transfer-encoding']?.toLowerCase().includes('chunked') === true)
    return readChunks(bytes)
  const length = headers['content-length']
  if (length === undefined) {
    if (options.emptyWithoutLength === true)
      return { bytes: Buffer.alloc(0), complete: true, consumed: 0 }
    return { bytes, complete: false, consumed: bytes.length }
  }
  const wanted = Number(length)
  const taken = bytes.subarray(0, wanted)
  return { bytes: taken, complete: taken.length === wanted, consumed: taken.length }
}

function readChunks(bytes: Buffer): BodyBytes {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) break
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const start = lineEnd + 2
    if (size === 0) {
      const complete = bytes.length >= start + 2
      return { bytes: Buffer.concat(parts), complete, consumed: start + 2 }
    }
    parts.push(bytes.subarray(start, start + size))
    if (bytes.length < start + size + 2) break
    at = start + size + 2
  }
  return { bytes: Buffer.concat(parts), complete: false, consumed: at }
}

export interface RequestParts {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export function composeRequest(parts: RequestParts): Buffer {
  const body = Buffer.from(parts.body ?? '')
  const headers = { host: 'gatehouse.test', ...parts.headers }
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const framed = names.includes('content-length') || names.includes('transfer-encoding')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  if (!framed && parts.body !== undefined) lines.push(`content-length: ${body.length}\r\n`)
  return Buffer.concat([
    Buffer.from(
      `${parts.method ?? 'POST'} ${parts.path} HTTP/1.1\r\n${lines.join('')}\r\n`,
      'latin1',
    ),
    body,
  ])
}

export function chunk(data: string | Uint8Array): Buffer {
  const bytes = Buffer.from(data)
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ])
}

export const LAST_CHUNK = '0\r\n\r\n'
