/** Gatehouse with the features of a production setup: key check, limits, journal and shipping. */
import { join } from 'node:path'
import { type Contender, type RunningContender, type StartOptions, trusting } from '../contender.ts'
import { CONTENDER_CORE, startPinned, untilAnswers } from '../pinned-process.ts'
import { PORTS } from '../ports.ts'
import { buildProgram, PROGRAM } from '../program.ts'

export const KEY = `sk-svc-${'b'.repeat(64)}`

const MOST_ATTEMPTS = 1_000
const RETRY_EVERY_MS = 10

export const gatehouse: Contender = gatehouseWith({})

/** Translates for Chat callers from a Messages upstream: each event is decoded and encoded. */
export const translating: Contender = {
  ...gatehouseWith({ target: 'anthropic/claude-opus-5', port: PORTS.translating }),
  name: 'translated',
  features:
    'Gatehouse, for streams only: Chat callers before an upstream that speaks Anthropic Messages',
}

export interface GatehouseOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** The gate's target. Default: OpenAI's, which is relayed. */
  readonly target?: string
  /** The cores that the process may use. Default: the contenders' core. */
  readonly core?: string
  /** A different port for each of several Gatehouse contenders. */
  readonly port?: number
  /** An existing data folder. Default: a new one. */
  readonly dataFolder?: string
  /** Default: the program of this commit. */
  readonly program?: string
  /** Names of user, session and tag in each call. Undefined: none. */
  readonly names?: SentNames | undefined
}

/** Whether the account attributes calls to the names that they send. */
export type SentNames = 'counted' | 'uncounted'

const NAMES = {
  'x-gatehouse-user': 'ada@example.com',
  'x-gatehouse-session': '0199c0de-7c1a-7000-8000-5e55104a0001',
  'x-gatehouse-tags': 'repo:gatehouse',
}

export function gatehouseWith(options: GatehouseOptions): Contender {
  return {
    name: 'gatehouse',
    features:
      'the program of `make binary`: key check, limits, ledger written before the answer and shipped into SQLite; one process',
    prepare: buildProgram,
    start: (upstream) => start(upstream, options),
  }
}

async function start(
  { url, folder, authority }: StartOptions,
  {
    environment = {},
    dataFolder,
    core = CONTENDER_CORE,
    target = 'openai/gpt-4o',
    port = PORTS.gatehouse,
    program = PROGRAM,
    names,
  }: GatehouseOptions,
): Promise<RunningContender> {
  const server = startPinned(core, [program, 'serve'], {
    port,
    environment: {
      GATEHOUSE_PORT: String(port),
      GATEHOUSE_DATA_DIR: dataFolder ?? join(folder, `data-${Date.now()}`),
      GATEHOUSE_BOOTSTRAP_KEY: KEY,
      GATEHOUSE_LOG_LEVEL: 'warn',
      GATEHOUSE_REQUESTS_PER_MINUTE: '1000000000',
      OPENAI_API_KEY: 'any',
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_API_KEY: 'any',
      ANTHROPIC_BASE_URL: url,
      ...trusting(authority),
      ...environment,
    },
  })
  const address = `http://127.0.0.1:${port}`
  const startMs = await untilAnswers(server, `${address}/healthz`)
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  await createGate(address, headers, target)
  if (names !== undefined) await switchAttribution(address, headers, names === 'counted')
  return {
    url: `${address}/v1/chat/completions`,
    headers: names === undefined ? headers : { ...headers, ...NAMES },
    model: 'bench',
    process: server,
    startMs,
    stop: () => server.stop(),
  }
}

/**
 * Repeats the request while the answer is 401: the server listens before its first key is created,
 * so that a failed start creates no key.
 */
async function createGate(
  address: string,
  headers: Record<string, string>,
  target: string,
): Promise<void> {
  const body = JSON.stringify({ id: 'bench', targets: [{ model: target }] })
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const { ok, status } = await fetch(`${address}/v1/gates`, { method: 'POST', headers, body })
    if (ok) return
    if (status !== 401) throw new Error(`Gatehouse did not create the gate: HTTP ${status}`)
    await Bun.sleep(RETRY_EVERY_MS)
  }
  throw new Error('Gatehouse did not accept its first key')
}

async function switchAttribution(
  address: string,
  headers: Record<string, string>,
  isOn: boolean,
): Promise<void> {
  const switches = { membersAndTags: isOn, sessions: isOn, endUsers: isOn }
  const requests = [
    ['PATCH', '/v1/account/attribution', switches],
    ['POST', '/v1/tags', { name: 'repo' }],
  ] as const
  for (const [method, path, body] of requests) {
    const options = { method, headers, body: JSON.stringify(body) }
    const { ok, status } = await fetch(`${address}${path}`, options)
    if (!ok) throw new Error(`${method} ${path}: ${status}`)
  }
}
