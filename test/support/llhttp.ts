/**
 * Reads answers by llhttp, the parser inside Node.js: what another program would understand of the
 * same bytes.
 */

export interface ReadAnswer {
  readonly isWhole: boolean
  readonly status?: number
  /** Names in lower case, in the order in which they came first; values of one name are joined. */
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
}

/** Runs inside Node.js, where the parser is. Of interim answers only the last counts. */
const SCRIPT = `
const { HTTPParser } = process.binding('http_parser')
const texts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
const read = (text) => {
  const bytes = Buffer.from(text, 'latin1')
  const parser = new HTTPParser()
  parser.initialize(HTTPParser.RESPONSE, {})
  let status, headers = [], body = '', isWhole = false
  const add = (pairs) => { for (let at = 0; at < pairs.length; at += 2) headers.push([pairs[at].toLowerCase(), pairs[at + 1]]) }
  let isHead = true
  parser[HTTPParser.kOnMessageBegin | 0] = () => { isHead = true; headers = []; body = ''; isWhole = false }
  parser[HTTPParser.kOnHeaders | 0] = (pairs) => { if (isHead) add(pairs) }
  parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, pairs, method, url, code) => {
    if (pairs) add(pairs)
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
  const joined = new Map()
  for (const [name, value] of headers) joined.set(name, joined.has(name) ? joined.get(name) + ', ' + value : value)
  return { isWhole: true, status, headers: [...joined], body }
}
process.stdout.write(JSON.stringify(texts.map(read)))
`

/** @param texts a byte a character. Each is followed by the end of its connection. */
export async function readByLlhttp(texts: readonly string[]): Promise<readonly ReadAnswer[]> {
  const node = Bun.spawn(['node', '--no-deprecation', '-e', SCRIPT], {
    stdin: new TextEncoder().encode(JSON.stringify(texts)),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complained, code] = await Promise.all([
    new Response(node.stdout).text(),
    new Response(node.stderr).text(),
    node.exited,
  ])
  if (code !== 0) throw new Error(`Node.js could not read the answers: ${complained}`)
  return JSON.parse(said) as readonly ReadAnswer[]
}
