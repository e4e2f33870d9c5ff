/**
 * A hostile request, or a hostile answer of an upstream, costs at most twenty times the processor
 * time of a harmless one of equal size, and the server goes on answering. Against a real process,
 * by what the kernel counts for it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { IS_LONG, tellProgress } from '../../support/chaos-form.ts'
import { chunk, LAST_CHUNK } from '../../support/http-bytes.ts'
import { mostResidentBytes } from '../../support/process-memory.ts'
import { processorTicks } from '../../support/processor-time.ts'
import {
  ALT_CHAT,
  CHAT,
  CHAT_V3,
  FIM,
  MESSAGES,
  openRawScene,
  type RawScene,
  RESPONSES,
} from '../../support/raw-scene.ts'
import type { Script } from '../../support/raw-upstream.ts'
import { answerHead, bodyAnswer, jsonAnswer } from '../../support/scripted-answers.ts'
import { testIf } from '../../support/skip-unless.ts'

setDefaultTimeout(IS_LONG ? 1_800_000 : 240_000)

/** Every attack is held to this. */
const MOST = 20
const MIB = 1024 * 1024
const MOST_BYTES = 700 * MIB
const isLinux = process.platform === 'linux'
/** A tick is ten milliseconds: what costs less than two cannot be told from nothing. */
const LEAST_TICKS = 2

let scene: RawScene
beforeAll(async () => {
  scene = await openRawScene({
    gates: {
      chat: 'openai/gpt-4o',
      claude: 'anthropic/claude-opus-5',
      code: 'mistral/codestral-latest',
      vectors: 'openai/text-embedding-3-small',
    },
  })
})
afterAll(() => scene.close())

interface Asked {
  /** Beside the content type, the key and the page's own. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Behind the path. */
  readonly query?: string
  /** The upstream's part; absent: an answer of a few bytes. */
  readonly upstream?: Script
}

interface Attack {
  readonly name: string
  readonly path: string
  readonly method?: 'GET'
  /** Without a key, as a page of the gateway's own would ask. */
  readonly isFromPage?: true
  readonly hostile: Asked
  /** The same size, and nothing in it. */
  readonly harmless: Asked
  readonly rounds: number
}

const chatOf = (model: string, members = '') =>
  `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"hi"}]${members}}`
const many = (count: number) => Array.from({ length: count }, (_, index) => `"m${index}":1`).join()
const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
/** The text with as much more to say as makes it as long as the other. */
const padded = (text: string, other: string) =>
  text.replace('"hi"', `"${'h'.repeat(Math.max(2, other.length - text.length))}"`)

/** Under the megabyte that the control plane takes, as are the lists. */
const WIDE = many(80_000)
const DEEP = deep(400_000)
const ANSWER = (content: string) =>
  `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${content}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}`
const SHORT = jsonAnswer(200, `${ANSWER('hi')}}`)
const plainAnswer = (bytes: number) => jsonAnswer(200, `${ANSWER('h'.repeat(bytes))}}`)

/** Each kind of body, with a member for any text. */
const BODIES: readonly (readonly [path: string, body: (members: string) => string])[] = [
  [CHAT, (members) => chatOf('chat', members)],
  [MESSAGES, (members) => chatOf('claude', members)],
  [RESPONSES, (members) => `{"model":"chat","input":"hi"${members}}`],
  ['/v1/embeddings', (members) => `{"model":"vectors","input":"hi"${members}}`],
  [FIM, (members) => `{"model":"code","prompt":"hi"${members}}`],
  [ALT_CHAT, (members) => chatOf('code', members)],
  [
    CHAT_V3,
    (members) => `{"gate_id":"chat","messages":[{"role":"user","content":"hi"}]${members}}`,
  ],
  ['/v1/gates', (members) => `{"id":"made","displayName":"hi","targets":[]${members}}`],
]

function bodyAttacks(name: string, members: string): readonly Attack[] {
  return BODIES.map(([path, toBody]) => {
    const body = toBody(members)
    return {
      name: `${name}, to ${path}`,
      path,
      hostile: { body },
      harmless: { body: padded(toBody(''), body) },
      rounds: 4,
    }
  })
}

const spaces = `application/json;${' '.repeat(14_000)}x`
const filling = { 'x-padding': 'x'.repeat(14_000) }
const signIn = `{"email":"a@b.c","password":"x",${many(1_000)}}`
const template = `{"gate_id":"chat","messages":[{"role":"user","content":"hi"}],"vars":{"a":"${'x'.repeat(10_000)}"},"instructions":"${'{{a}}'.repeat(80_000)}"}`
const nested = (value: string) => `,"tools":[{"name":"t","input_schema":${value}}]`
const calling = (text: string) => {
  const call = { id: 'call_1', type: 'function', function: { name: 't', arguments: text } }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'done' },
  ]
  return JSON.stringify({ model: 'claude', messages })
}
/** Reading it grows faster than its size: told by many ticks, or not so near to the bound. */
const PROPERTIES = many(IS_LONG ? 80_000 : 20_000)
const translated = chatOf('chat', nested(`{"properties":{${PROPERTIES}}}`))
const translatedDeep = chatOf('chat', nested(`{"properties":${deep(200_000)}}`))

const attacks: readonly Attack[] = [
  {
    name: 'a content type of spaces, to the data plane',
    path: CHAT,
    hostile: { headers: { 'content-type': spaces }, body: chatOf('chat') },
    harmless: { headers: filling, body: '{}' },
    rounds: 60,
  },
  {
    name: 'a content type of spaces, to the control plane without a key',
    path: '/v1/auth/sign-in',
    isFromPage: true,
    hostile: { headers: { 'content-type': spaces }, body: '{}' },
    harmless: { headers: filling, body: '{}' },
    rounds: 60,
  },
  {
    name: 'a hundred headers',
    path: CHAT,
    hostile: {
      headers: Object.fromEntries(
        Array.from({ length: 80 }, (_, index) => [`x-stainless-h${index}`, 'x'.repeat(100)]),
      ),
      body: '{}',
    },
    harmless: { headers: { 'x-padding': 'x'.repeat(9_000) }, body: '{}' },
    rounds: 60,
  },
  {
    name: 'thousands of cookies',
    path: '/v1/session',
    method: 'GET',
    isFromPage: true,
    hostile: { headers: { cookie: `gatehouse.session_token=x; ${'a=b; '.repeat(2_400)}` } },
    harmless: { headers: { cookie: `gatehouse.session_token=${'x'.repeat(12_000)}` } },
    rounds: 60,
  },
  {
    name: 'thousands of parameters',
    path: '/v1/logs',
    method: 'GET',
    hostile: { query: `?${Array.from({ length: 1_000 }, (_, index) => `p${index}=1`).join('&')}` },
    harmless: { query: `?p=${'1'.repeat(6_900)}` },
    rounds: 60,
  },
  ...bodyAttacks('an object of very many members', `,${WIDE}`),
  ...bodyAttacks('lists in lists', `,"x":${DEEP}`),
  {
    name: 'a sign-in of a thousand members',
    path: '/v1/auth/sign-in',
    isFromPage: true,
    hostile: { body: signIn },
    harmless: { body: `{"email":"${'a'.repeat(signIn.length)}"}` },
    rounds: 60,
  },
  {
    name: 'a schema of very many members that is translated',
    path: MESSAGES,
    hostile: { body: translated },
    harmless: { body: padded(chatOf('chat', nested('{}')), translated) },
    rounds: 40,
  },
  {
    name: 'a schema of lists in lists that is translated',
    path: MESSAGES,
    hostile: { body: translatedDeep },
    harmless: { body: padded(chatOf('chat', nested('{}')), translatedDeep) },
    rounds: 4,
  },
  {
    name: 'arguments of a tool call of lists in lists, read to be translated',
    path: CHAT,
    hostile: { body: calling(DEEP) },
    harmless: { body: calling(JSON.stringify({ a: 'x'.repeat(DEEP.length) })) },
    rounds: 4,
  },
  {
    name: 'instructions of 80,000 variables of 10 KB',
    path: CHAT_V3,
    hostile: { body: template },
    harmless: {
      body: padded('{"gate_id":"chat","messages":[{"role":"user","content":"hi"}]}', template),
    },
    rounds: 10,
  },
]

const BOMB = isLinux ? gzipSync(Buffer.alloc(256 * MIB, 0x20), { level: 1 }) : Buffer.alloc(0)
const JSON_TYPE = { 'content-type': 'application/json' }
const deepAnswer = `${ANSWER('hi')},"x":${DEEP}}`

function inChunksOfAByte(text: string): Script {
  const body = Buffer.concat([...Buffer.from(text)].map((byte) => chunk(Buffer.of(byte))))
  return async (exchange) => {
    await exchange.write(answerHead(200, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }))
    await exchange.write(body)
    await exchange.write(LAST_CHUNK)
  }
}

/** By an upstream that an account owns, for one. */
const answers: readonly (Pick<Attack, 'name' | 'rounds'> & {
  hostile: Script
  harmless: Script
})[] = [
  {
    name: 'that would inflate to 256 MiB',
    hostile: bodyAnswer(200, BOMB, { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    harmless: plainAnswer(BOMB.length),
    rounds: 10,
  },
  {
    name: 'with control characters in its headers',
    hostile: jsonAnswer(200, `${ANSWER('hi')}}`, {
      'x-vendor': `a\u0001\u0007b${'\u0002'.repeat(4_000)}`,
    }),
    harmless: jsonAnswer(200, `${ANSWER('hi')}}`, { 'x-vendor': 'b'.repeat(4_000) }),
    rounds: 60,
  },
  {
    name: 'of lists in lists',
    hostile: jsonAnswer(200, deepAnswer),
    harmless: plainAnswer(deepAnswer.length),
    rounds: 10,
  },
  {
    name: 'of 100 KB in chunks of a byte',
    hostile: inChunksOfAByte(`${ANSWER('h'.repeat(100_000))}}`),
    harmless: plainAnswer(600_000),
    rounds: 10,
  },
]

async function cost(attack: Omit<Attack, 'hostile' | 'harmless'>, asked: Asked): Promise<number> {
  const { gatehouse, upstream } = scene
  const { path, method = 'POST', isFromPage, rounds } = attack
  upstream.reset()
  upstream.answer(asked.upstream ?? SHORT)
  const own = isFromPage
    ? { origin: gatehouse.url, 'x-gatehouse-csrf': '1' }
    : { authorization: `Bearer ${gatehouse.key}` }
  const before = await processorTicks(gatehouse.pid)
  for (let round = 0; round < rounds; round += 1) {
    const response = await fetch(`${gatehouse.url}${path}${asked.query ?? ''}`, {
      method,
      headers: { ...JSON_TYPE, ...own, ...asked.headers },
      ...(asked.body === undefined ? {} : { body: asked.body }),
    })
    await response.arrayBuffer().catch(() => undefined)
  }
  return (await processorTicks(gatehouse.pid)) - before
}

function tryAttack(name: string, attack: Attack): void {
  const title = `${name} costs no more than ${MOST} harmless ones`
  testIf(isLinux, 'needs /proc')(title, async () => {
    const { gatehouse } = scene
    const long = { ...attack, rounds: attack.rounds * (IS_LONG ? 10 : 1) }
    // Nobody pays for what is loaded with the first request.
    await cost({ ...attack, rounds: 2 }, attack.harmless)
    const harmless = await cost(long, attack.harmless)
    const hostile = await cost(long, attack.hostile)
    tellProgress(`${name}: ${hostile} ticks, harmless ${harmless}, ${long.rounds} rounds`)
    expect(hostile).toBeLessThanOrEqual(MOST * Math.max(LEAST_TICKS, harmless))
    expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200)
    expect(await mostResidentBytes(gatehouse.pid)).toBeLessThan(MOST_BYTES)
  })
}

for (const attack of attacks) tryAttack(attack.name, attack)
for (const { name, rounds, hostile, harmless } of answers)
  tryAttack(`an answer ${name}`, {
    ...{ name, path: CHAT, rounds },
    hostile: { body: chatOf('chat'), upstream: hostile },
    harmless: { body: chatOf('chat'), upstream: harmless },
  })
