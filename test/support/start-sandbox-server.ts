/**
 * The sandbox provider as a separate process, so that killing a gateway does not kill its upstream.
 */
import { resolve } from 'node:path'
import { boundToTest } from './bound-to-test.ts'
import { within } from './poll-until.ts'
import { PROGRAM } from './program.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')
const START_TIMEOUT_MS = 45_000

export interface SandboxServer {
  readonly url: string
  remove(): Promise<void>
}

/** @param delayMs pause between the events of a stream */
export async function startSandboxServer({ delayMs = 0 } = {}): Promise<SandboxServer> {
  const child = Bun.spawn(
    boundToTest([
      ...[...PROGRAM, 'sandbox', '--json'],
      ...['--port', '0', '--delay-ms', String(delayMs)],
    ]),
    {
      cwd: REPOSITORY,
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  const remove = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  try {
    const url = await within(START_TIMEOUT_MS, 'address of the sandbox', readAddress(child.stdout))
    return { url, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function readAddress(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    const url = /"url":\s*"([^"]+)"/.exec(text)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`the sandbox ended: ${text}`)
}
