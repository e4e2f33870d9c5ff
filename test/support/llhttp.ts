/**
 * Reads answers and requests with llhttp, the parser of Node.js, to learn what another program
 * understands of the same bytes.
 */

export interface ReadAnswer {
  readonly isWhole: boolean
  readonly status?: number
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
}

export interface ReadRequest {
  readonly method: string
  readonly target: string
  readonly isOld: boolean
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  readonly isWhole: boolean
  readonly isPersistent: boolean
}

const READING = `
const { HTTPParser, allMethods } = process.binding('http_parser')
const texts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
const join = (pairs) => {
  const joined = new Map()
  for (let at = 0; at < pairs.length; at += 2) {
    const name = pairs[at].toLowerCase()
    joined.set(name, joined.has(name) ? joined.get(name) + ', ' + pairs[at + 1] : pairs[at + 1])
  }
  return [...joined]
}
`

const READ_ANSWER = `
const read = (text) => {
  const bytes = Buffer.from(text, 'latin1')
  const parser = new HTTPParser()
  parser.initialize(HTTPParser.RESPONSE, {})
  let status, headers = [], body = '', isWhole = false
  let isHead = true
  parser[HTTPParser.kOnMessageBegin | 0] = () => { isHead = true; headers = []; body = ''; isWhole = false }
  parser[HTTPParser.kOnHeaders | 0] = (pairs) => { if (isHead) headers.push(...pairs) }
  parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, pairs, method, url, code) => {
    if (pairs) headers.push(...pairs)
    isHead = false
    status = code
    return 0
  }
  parser[HTTPParser.kOnBody | 0] = (piece) => { body += piece.toString('latin1') }
  parser[HTTPParser.kOnMessageComplete | 0] = () => { isWhole = status >= 200 }
  const done = parser.execute(bytes)
  const ended = done instanceof Error ? done : parser.finish()
  parser.close()
  if (ended instanceof Error || !isWhole) return { isWhole: false }
  return { isWhole: true, status, headers: join(headers), body }
}
`

const READ_REQUESTS = `
const read = (text) => {
  const parser = new HTTPParser()
  parser.initialize(HTTPParser.REQUEST, {})
  const requests = []
  let headers = [], target = '', isHead = true
  parser[HTTPParser.kOnMessageBegin | 0] = () => { isHead = true; headers = []; target = '' }
  parser[HTTPParser.kOnHeaders | 0] = (pairs, url) => {
    if (!isHead) return
    headers.push(...pairs)
    target += url
  }
  parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, pairs, method, url, code, reason, upgrade, isPersistent) => {
    if (pairs) headers.push(...pairs)
    if (url) target = url
    isHead = false
    requests.push({ method: allMethods[method], target, isOld: minor === 0, headers: join(headers), body: '', isWhole: false, isPersistent })
    return 0
  }
  parser[HTTPParser.kOnBody | 0] = (piece) => { requests.at(-1).body += piece.toString('latin1') }
  parser[HTTPParser.kOnMessageComplete | 0] = () => { requests.at(-1).isWhole = true }
  parser.execute(Buffer.from(text, 'latin1'))
  parser.close()
  return requests
}
`

/** @param texts one character per byte, each followed by the end of its connection */
export function readByLlhttp(texts: readonly string[]): Promise<readonly ReadAnswer[]> {
  return runInNode(READ_ANSWER, texts)
}

/**
 * @param texts as in `readByLlhttp`
 * @returns for each text the requests with readable heads, in order
 */
export function readRequestsByLlhttp(
  texts: readonly string[],
): Promise<readonly (readonly ReadRequest[])[]> {
  return runInNode(READ_REQUESTS, texts)
}

async function runInNode<T>(reading: string, texts: readonly string[]): Promise<readonly T[]> {
  const script = `${READING}${reading}process.stdout.write(JSON.stringify(texts.map(read)))`
  const node = Bun.spawn(['node', '--no-deprecation', '-e', script], {
    stdin: new TextEncoder().encode(JSON.stringify(texts)),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complained, code] = await Promise.all([
    new Response(node.stdout).text(),
    new Response(node.stderr).text(),
    node.exited,
  ])
  if (code !== 0) throw new Error(`Node.js could not read the messages: ${complained}`)
  return JSON.parse(said) as readonly T[]
}
