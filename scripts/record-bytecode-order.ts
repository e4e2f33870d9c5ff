/**
 * Runs a program as users do, and lets the runtime record the used functions: a server that starts,
 * gets a gate, relays two calls and ends.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '../src/sandbox/start-sandbox.ts'
import { readAddress } from './read-address.ts'

const KEY = `sk-svc-${'0'.repeat(64)}`
const GATE = 'recorded'
/** Enough for a start, two calls and an end on a busy machine. */
const LIMIT_MS = 120_000

/** @throws Error when the program does not serve, or not within the limit */
export async function recordBytecodeOrder(
  program: string,
  recordPath: string,
  { limitMs = LIMIT_MS }: { readonly limitMs?: number } = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-record-'))
  const sandbox = startSandbox()
  const server = Bun.spawn([program, 'serve'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      BUN_BYTECODE_ORDER_OUT: recordPath,
      GATEHOUSE_HOST: '127.0.0.1',
      GATEHOUSE_PORT: '0',
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_BOOTSTRAP_KEY: KEY,
      GATEHOUSE_LOG_LEVEL: 'warn',
      OPENAI_API_KEY: 'any',
      OPENAI_BASE_URL: `${sandbox.url}/v1`,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    // Everything that waits then ends with an error.
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  try {
    const url = await readAddress(server.stdout)
    await makeCalls(url)
    server.kill('SIGTERM')
    const exitCode = await server.exited
    if (exitCode !== 0) throw new Error(`the recorded program ended with code ${exitCode}`)
  } finally {
    server.kill('SIGKILL')
    await server.exited
    await sandbox.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function makeCalls(url: string): Promise<void> {
  await post(`${url}/v1/gates`, { id: GATE, targets: [{ model: 'openai/echo' }] })
  const messages = [{ role: 'user', content: 'hello' }]
  for (const stream of [false, true]) {
    await post(`${url}/v1/chat/completions`, { model: GATE, stream, messages })
  }
}

async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${answer}`)
}
