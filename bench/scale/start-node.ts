/**
 * A node as operators run it, in a process of its own, with an upstream that answers at once. Knows
 * nothing of what is stored.
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
/** More than is ever used, so that each call asks for its part of it. */
const CONFIGURATION = `plans:
  default: bench
  definitions:
    bench:
      monthlyTokens: 1000000000000
`

export interface NodeOptions {
  readonly key: string
  /** What is started; without it, the sources. */
  readonly program?: string
  /** Loaded before the sources, from the repository's folder. */
  readonly preload?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** Before the first start: the key that calls come with. */
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

/** Before the first start: what `callNode` goes through. */
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
 * Every account has a quota. Both processes are gone after `work`.
 * @param work told when the node's process began, as `performance.now()` has it
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

/** @throws where the answer is not 200 */
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
