/**
 * Starts a node as operators run it, in its own process, with an upstream that answers immediately.
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { hashApiKey, maskApiKey } from '../../src/core/api-key.ts'
import { USUAL_GATE } from '../../src/core/gate.ts'
import { createKeyId, DEFAULT_ACCOUNT, type GateId } from '../../src/core/ids.ts'
import type { Store } from '../../src/store/open-store.ts'
import { type Gatehouse, startGatehouse } from '../../test/support/start-gatehouse.ts'
import type { Place } from './with-store.ts'

export const KEY = `sk-svc-${'c'.repeat(64)}`
const GATE = 'bench'
const MASTER_KEY = '0'.repeat(64)
/** A quota that is never used up, so that every call reserves a part of it. */
const CONFIGURATION = `plans:
  default: bench
  definitions:
    bench:
      monthlyTokens: 1000000000000
`

export interface NodeOptions {
  readonly key: string
  /** The program to start. Undefined: the sources. */
  readonly program?: string
  /** Loaded before the sources, relative to the repository. */
  readonly preload?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** Insert before the first start: the key of the calls. */
export function keyRecord() {
  return {
    accountId: DEFAULT_ACCOUNT,
    id: createKeyId(),
    name: 'bench',
    sha256: hashApiKey(KEY),
    maskedPrefix: maskApiKey(KEY),
    createdAt: Date.now(),
    lastUsedAt: null,
    createdBy: null,
    expiresAt: null,
    previous: null,
  }
}

/** Insert before the first start: the gate that `callNode` uses. */
export async function seedGate(store: Store, accountId = DEFAULT_ACCOUNT): Promise<void> {
  const now = Date.now()
  await store.gates.insert({
    accountId,
    id: GATE as GateId,
    displayName: GATE,
    description: '',
    targets: [{ model: 'openai/gpt-4o' }],
    ...USUAL_GATE,
    timeoutMs: null,
    maxRetries: 0,
    createdAt: now,
    updatedAt: now,
  })
}

/**
 * Every account has a quota. Both processes are stopped after `work`.
 * @param work gets the start time of the node's process, on the scale of `performance.now()`
 */
export async function withNode<Result>(
  { dataFolder, environment }: Omit<Place, 'location'>,
  { key, program, preload, environment: own }: NodeOptions,
  work: (node: Gatehouse, startedAt: number) => Promise<Result>,
): Promise<Result> {
  writeFileSync(join(dataFolder, 'gatehouse.yaml'), CONFIGURATION)
  const command = [process.execPath, join(import.meta.dir, 'fixed-upstream.ts')]
  const upstream = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  let node: Gatehouse | undefined
  try {
    const upstreamPort = await readPort(upstream.stdout)
    const startedAt = performance.now()
    node = await startGatehouse({
      dataFolder,
      key,
      ...(program === undefined ? {} : { program }),
      ...(preload === undefined ? {} : { command: commandWith(preload) }),
      environment: {
        GATEHOUSE_LOG_LEVEL: 'info',
        GATEHOUSE_MASTER_KEY: MASTER_KEY,
        GATEHOUSE_SHIP_INTERVAL_MS: '1000',
        OPENAI_API_KEY: 'any',
        OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
        ...environment,
        ...own,
      },
    })
    return await work(node, startedAt)
  } finally {
    await node?.remove()
    upstream.kill()
    await upstream.exited
  }
}

function commandWith(preload: string): readonly string[] {
  const repository = resolve(import.meta.dir, '../..')
  return [process.execPath, '--preload', join(repository, preload), join(repository, 'src/main.ts')]
}

/** @throws Error when the status is not 200 */
export async function callNode({ url }: Pick<Gatehouse, 'url'>, key: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: GATE, messages: [{ role: 'user', content: 'hello' }] }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`HTTP ${response.status}: ${text}`)
}

async function readPort(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const bytes of output) {
    text += new TextDecoder().decode(bytes)
    if (text.endsWith('\n')) break
  }
  return text.trim()
}
