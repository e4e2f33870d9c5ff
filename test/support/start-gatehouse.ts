/** Runs the server as its users do: a separate process, configured by the environment. */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { boundToTest } from './bound-to-test.ts'
import { within } from './poll-until.ts'
import { PROGRAM } from './program.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')
const LISTENING = /listening on (http:\/\/[^\s"\\]+)/
/** The default interval, for tests that kill the server between two shipments. */
export const UNHURRIED_SHIPPING = { GATEHOUSE_SHIP_INTERVAL_MS: '1000' } as const
export const PATIENT_WITH_DATABASE = { GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS: '45000' } as const
export const PATIENT_WITH_REDIS = { GATEHOUSE_REDIS_TIMEOUT_MS: '20000' } as const
/** The gateway tests a provider key that is set, and no test may ask a real provider. */
const NOWHERE = {
  OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  MISTRAL_BASE_URL: 'http://127.0.0.1:9/v1',
  GROQ_BASE_URL: 'http://127.0.0.1:9/v1',
} as const
const START_TIMEOUT_MS = 45_000
const STOP_TIMEOUT_MS = 45_000

export interface GatehouseOptions {
  /**
   * A built program, as by `make binary`; default: the sources. Started outside of the repository.
   */
  readonly program?: string
  /** The folder of other sources. */
  readonly source?: string
  /** The command before `serve`, started outside of the repository. */
  readonly command?: readonly string[]
  readonly sandbox?: boolean
  /** Overrides the environment that every test server gets. */
  readonly environment?: Readonly<Record<string, string>>
  /** The folder of an earlier server; default: a new folder. */
  readonly dataFolder?: string
  readonly key?: string
}

export interface Gatehouse {
  readonly url: string
  readonly key: string
  readonly pid: number
  readonly dataFolder: string
  readonly exited: Promise<number>
  output(): string
  signal(name: NodeJS.Signals): void
  stop(): Promise<number>
  kill(): Promise<void>
  /** Kills what still runs, and removes the data folder if this server created the folder. */
  remove(): Promise<void>
}

export function createBootstrapKey(): string {
  return `sk-svc-${randomBytes(32).toString('hex')}`
}

export async function startGatehouse(options: GatehouseOptions = {}): Promise<Gatehouse> {
  const folder = options.dataFolder === undefined ? await createTemporaryFolder() : undefined
  const dataFolder = options.dataFolder ?? folder?.path ?? ''
  const key = options.key ?? createBootstrapKey()
  const command = options.command ?? (options.program === undefined ? undefined : [options.program])
  const child = Bun.spawn(
    boundToTest([
      ...(command ?? (options.source === undefined ? PROGRAM : [process.execPath, 'src/main.ts'])),
      'serve',
      ...(options.sandbox === true ? ['--sandbox'] : []),
    ]),
    {
      cwd: command === undefined ? (options.source ?? REPOSITORY) : dataFolder,
      // Not the test's own environment: a real provider's key must never reach a test server.
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        GATEHOUSE_HOST: '127.0.0.1',
        GATEHOUSE_PORT: '0',
        GATEHOUSE_DATA_DIR: dataFolder,
        GATEHOUSE_BOOTSTRAP_KEY: key,
        GATEHOUSE_LOG_LEVEL: 'debug',
        GATEHOUSE_REQUESTS_PER_MINUTE: '1000000',
        GATEHOUSE_CONCURRENT_CALLS: '10000',
        // Short, because hundreds of tests wait for a call's row.
        GATEHOUSE_SHIP_INTERVAL_MS: '50',
        ...NOWHERE,
        ...options.environment,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )

  let output = ''
  const listening = Promise.withResolvers<string>()
  let isListening = false
  const collect = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      output += decoder.decode(chunk, { stream: true })
      // Searching the output joins all of it, each time.
      if (isListening) continue
      const address = LISTENING.exec(output)?.[1]
      if (address === undefined) continue
      isListening = true
      listening.resolve(address)
    }
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)])
  void child.exited.then((code) =>
    listening.reject(new Error(`the server ended with code ${code}:\n${output}`)),
  )

  const remove = async (): Promise<void> => {
    child.kill('SIGKILL')
    await child.exited
    await folder?.remove()
  }
  const url = await within(
    START_TIMEOUT_MS,
    'line that says where the server listens',
    listening.promise,
  ).catch(async (error: unknown) => {
    await remove()
    throw new Error(`the server did not start: ${String(error)}\n${output}`)
  })

  return {
    url: url.replace(/\/$/, ''),
    key,
    pid: child.pid,
    dataFolder,
    exited: child.exited,
    output: () => output,
    signal: (name) => child.kill(name),
    stop: async () => {
      child.kill('SIGTERM')
      const code = await within(STOP_TIMEOUT_MS, 'exit after SIGTERM', child.exited)
      await collected
      return code
    },
    kill: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
    remove,
  }
}
