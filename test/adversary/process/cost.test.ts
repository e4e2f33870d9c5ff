/**
 * A hostile request costs at most twenty times the processor time of a harmless one of equal size, and the server goes on
 * answering. Against a real process, by what the kernel counts for it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { residentBytes } from '../../support/process-memory.ts'
import { testIf } from '../../support/skip-unless.ts'
import { type Gatehouse, startGatehouse } from '../../support/start-gatehouse.ts'

setDefaultTimeout(240_000)

const MOST = 20
const MIB = 1024 * 1024
const MOST_BYTES = 700 * MIB
const isLinux = process.platform === 'linux'
const JSON_TYPE = 'application/json'

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
})
afterAll(() => gatehouse.remove())

interface Attack {
  readonly name: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** The same size, and nothing in it. */
  readonly harmless: { readonly headers?: Readonly<Record<string, string>>; readonly body: string }
  readonly rounds: number
}

/** Ticks of the processor, in user and system mode (proc(5)). */
async function ticks(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

async function cost({ path, rounds }: Attack, { headers, body }: Attack['harmless']): Promise<number> {
  const before = await ticks(gatehouse.pid)
  for (let round = 0; round < rounds; round++) {
    const response = await fetch(`${gatehouse.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${gatehouse.key}`, ...headers },
      body,
    })
    await response.arrayBuffer()
  }
  return (await ticks(gatehouse.pid)) - before
}

const chat = (members: string) => `{"model":"demo","messages":[{"role":"user","content":"hi"}]${members}}`
const page = { origin: '', 'x-gatehouse-csrf': '1' }
const many = (count: number) => Array.from({ length: count }, (_, index) => `"m${index}":1`).join()
const padded = (text: string, body: string) =>
  text.replace('hi', 'h'.repeat(Math.max(2, body.length - text.length)))
const wide = chat(`,${many(300_000)}`)
const signIn = `{"email":"a@b.c","password":"x",${many(85_000)}}`
const template = `{"gate_id":"demo","messages":[{"role":"user","content":"hi"}],"vars":{"a":"${'x'.repeat(10_000)}"},"instructions":"${'{{a}}'.repeat(80_000)}"}`

const attacks: readonly Attack[] = [
  {
    name: 'a content type of spaces, to the data plane',
    path: '/v1/chat/completions',
    headers: { 'content-type': `application/json;${' '.repeat(14_000)}x` },
    body: chat(''),
    harmless: { headers: { 'x-padding': 'x'.repeat(14_000) }, body: '{}' },
    rounds: 100,
  },
  {
    name: 'a content type of spaces, to the control plane without a key',
    path: '/v1/auth/sign-in',
    headers: { ...page, 'content-type': `application/json;${' '.repeat(14_000)}x` },
    body: '{}',
    harmless: { headers: { ...page, 'x-padding': 'x'.repeat(14_000) }, body: '{}' },
    rounds: 100,
  },
  {
    name: 'an object of 300,000 members',
    path: '/v1/chat/completions',
    body: wide,
    harmless: { body: padded(chat(''), wide) },
    rounds: 20,
  },
  {
    name: 'a sign-in of 85,000 members',
    path: '/v1/auth/sign-in',
    headers: page,
    body: signIn,
    harmless: { headers: page, body: `{"email":"${'a'.repeat(signIn.length)}"}` },
    rounds: 50,
  },
  {
    name: 'instructions of 80,000 variables of 10 KB',
    path: '/v3/chat',
    body: template,
    harmless: { body: padded('{"gate_id":"demo","messages":[{"role":"user","content":"hi"}]}', template) },
    rounds: 20,
  },
]

for (const attack of attacks) {
  testIf(isLinux, 'needs /proc')(`${attack.name} costs no more than ${MOST} harmless requests`, async () => {
    const own = { origin: gatehouse.url }
    const withOrigin = (headers = {}) => ('origin' in headers ? { ...headers, ...own } : headers)
    const harmless = { ...attack.harmless, headers: withOrigin(attack.harmless.headers) }
    // What is loaded with the first request is nobody's cost.
    await cost({ ...attack, rounds: 2 }, harmless)
    // A tick is ten milliseconds: a cost below two is none that can be told.
    const usual = Math.max(2, await cost(attack, harmless))
    const hostile = await cost(attack, { headers: withOrigin(attack.headers), body: attack.body })
    expect(hostile).toBeLessThanOrEqual(MOST * usual)
    expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200)
    expect(await residentBytes(gatehouse.pid)).toBeLessThan(MOST_BYTES)
  })
}
