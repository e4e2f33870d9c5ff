/** `gatehouse serve`: from settings to a listening gateway and back to a clean exit. Knows no HTTP path. */
import type { ServeFlags } from './cli/context.ts'
import type { NewGate } from './cluster/gate-registry.ts'
import { composeGatehouse, type Gatehouse, VERSION } from './compose.ts'
import type { Environment } from './config/environment.ts'
import { loadSettings } from './config/load-settings.ts'
import type { Settings } from './config/settings.ts'
import { GatewayError } from './core/errors.ts'
import { DEFAULT_ACCOUNT, type GateId } from './core/ids.ts'
import type { Secret } from './core/secret.ts'
import { sandboxAddresses, sandbox as sandboxProvider } from './providers/sandbox.ts'
import { type Sandbox, startSandbox } from './sandbox/start-sandbox.ts'
import { type Listener, listen } from './server.ts'
import { writeServerInfo } from './store/data-folder.ts'
import { describeStore, locateStore } from './store/open-database.ts'
import { createLog, type Log } from './telemetry/log.ts'

export interface ServeOptions {
  readonly settings: Settings
  readonly withSandbox: boolean
}

/** Returns when the gateway listens; the process then lives until it is told to end. */
export async function serve({ settings, withSandbox }: ServeOptions): Promise<void> {
  const log = createLog(settings.logLevel)
  for (const name of settings.unknownVariables) log.warn({ name }, 'unknown setting: is it misspelt?')
  const sandbox = withSandbox ? startSandbox() : undefined
  const knownAddresses = sandboxAddresses(settings.providerBaseUrls.get(sandboxProvider.id) ?? sandbox?.url)
  const composed = { settings, log, knownAddresses, plans: settings.plans, hasTelemetry: true }
  const gatehouse = await composeGatehouse(composed).catch(async (error: unknown) => {
    // What listens keeps a process alive, also one that has failed.
    await sandbox?.stop()
    throw error
  })
  let listener: Listener | undefined
  let metrics: Listener | undefined
  try {
    // Listening comes first: a key made for a start that then fails would be in the store and never be shown.
    listener = listen(settings, (request, addressOf) => gatehouse.handle(request, addressOf))
    metrics = listenForMetrics(gatehouse, settings, log)
    const firstKey = await ensureFirstKey(gatehouse, settings)
    if (withSandbox) await ensureDemoGate(gatehouse)
    writeServerInfo(settings.dataFolder, { pid: process.pid, url: listener.url })
    endOnSignal({ gatehouse, listener, metrics, sandbox, settings, log })
    log.info(
      {
        url: listener.url,
        version: VERSION,
        dataFolder: settings.dataFolder,
        store: describeStore(locateStore(settings)),
      },
      'ready',
    )
    process.stdout.write(welcome(listener.url, { firstKey, withSandbox }))
  } catch (error) {
    await listener?.stop()
    await metrics?.stop()
    await gatehouse.close()
    await sandbox?.stop()
    throw error
  }
}

/** Options of the command line stand in for the variables they are named after. */
export async function serveFromFlags(environment: Environment, flags: ServeFlags): Promise<void> {
  const settings = await loadSettings({
    ...environment,
    ...(flags.host === undefined ? {} : { GATEHOUSE_HOST: flags.host }),
    ...(flags.port === undefined ? {} : { GATEHOUSE_PORT: String(flags.port) }),
    ...(flags.dataDir === undefined ? {} : { GATEHOUSE_DATA_DIR: flags.dataDir }),
  })
  await serve({ settings, withSandbox: flags.sandbox === true })
}

function listenForMetrics(gatehouse: Gatehouse, { telemetry }: Settings, log: Log): Listener | undefined {
  const { metrics } = gatehouse
  const { host, port } = telemetry.metrics ?? {}
  if (metrics === undefined || host === undefined || port === undefined) return undefined
  const listener = listen({ host, port }, metrics)
  log.info({ url: `${listener.url}/metrics` }, 'metrics')
  return listener
}

/** @returns the key to show, once, when one had to be made */
async function ensureFirstKey(gatehouse: Gatehouse, settings: Settings): Promise<Secret | undefined> {
  // A key that was deleted does not come back because it is still in the environment.
  if (gatehouse.keys.list(DEFAULT_ACCOUNT).length > 0) return undefined
  const label = { accountId: DEFAULT_ACCOUNT, name: 'first key' }
  return await gatehouse.keys.ensureFirst(label, settings.bootstrapKey)
}

const DEMO_GATE = 'demo' as GateId

async function ensureDemoGate(gatehouse: Gatehouse): Promise<void> {
  if (gatehouse.gates.find(DEFAULT_ACCOUNT, DEMO_GATE) !== undefined) return
  const demo: NewGate = {
    id: DEMO_GATE,
    displayName: 'Demo',
    description: 'Answers from the built-in sandbox: no real model, no account, no cost.',
    targets: [{ model: `${sandboxProvider.id}/echo` }],
    timeoutMs: null,
    maxRetries: 0,
  }
  await gatehouse.gates.create(DEFAULT_ACCOUNT, demo).catch(async (error: unknown) => {
    // Another node, which starts at the same time, has made it.
    if (!(error instanceof GatewayError && error.kind === 'conflict')) throw error
    await gatehouse.gates.loadNew()
  })
}

function welcome(url: string, shown: { firstKey: Secret | undefined; withSandbox: boolean }): string {
  const lines = [`Gatehouse ${VERSION} is listening on ${url}`]
  if (shown.firstKey !== undefined) {
    const key = shown.firstKey.reveal()
    lines.push('', 'Your first API key, shown only this once:', '', `  ${key}`)
    lines.push('', 'For the command line, in another terminal:', '')
    lines.push(`  export GATEHOUSE_URL=${url} GATEHOUSE_API_KEY=${key}`)
  }
  if (shown.withSandbox) {
    const key = shown.firstKey?.reveal() ?? '$GATEHOUSE_API_KEY'
    lines.push(
      '',
      "Try it: the gate 'demo' answers from the built-in sandbox, which is no real model.",
      '',
      `  curl ${url}/v1/responses \\`,
      `    -H "Authorization: Bearer ${key}" \\`,
      '    -H "Content-Type: application/json" \\',
      `    -d '{"model": "demo", "input": "Hello, gateway"}'`,
    )
  }
  const start = shown.firstKey === undefined ? '' : `/welcome#key=${shown.firstKey.reveal()}`
  lines.push('', `The dashboard: ${url}/dashboard${start}`)
  lines.push(`The interface: ${url}/docs, machine-readable: ${url}/openapi.json`, '')
  return `${lines.join('\n')}\n`
}

interface Running {
  readonly gatehouse: Gatehouse
  readonly listener: Listener
  readonly metrics: Listener | undefined
  readonly sandbox: Sandbox | undefined
  readonly settings: Settings
  readonly log: Log
}

/** The first signal ends it with care, the second at once. */
function endOnSignal(running: Running): void {
  let isEnding = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isEnding) process.exit(1)
    isEnding = true
    running.log.info({ signal }, 'ending: open calls are finished first')
    end(running).then(
      () => process.exit(0),
      (error) => {
        running.log.error({ err: error }, 'could not end cleanly')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

/** After being cut off, open streams get this long to tell their clients. */
const FAREWELL_MS = 1_000

async function end({ gatehouse, listener, metrics, sandbox, settings, log }: Running): Promise<void> {
  if (!(await listener.drain(settings.shutdownTimeoutMs))) {
    log.warn({ timeoutMs: settings.shutdownTimeoutMs }, 'open calls did not end in time and are cut off')
    gatehouse.cutOff()
    await listener.drain(FAREWELL_MS)
  }
  await listener.stop()
  await metrics?.stop()
  await sandbox?.stop()
  await gatehouse.close()
}
