import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import type { Settings } from '../config/settings.ts'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { DEFAULT_ACCOUNT, type GateId } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import { boundByAddress } from '../gateway/bound-by-address.ts'
import type { ConnectionLimits } from '../net/client-connection.ts'
import { monitorDescriptors } from '../net/descriptor-monitor.ts'
import { type Handle, type Listener, listen } from '../net/listen.ts'
import { sandboxAddresses, sandbox as sandboxProvider } from '../providers/sandbox.ts'
import type { Sandbox } from '../sandbox/start-sandbox.ts'
import type { NewGate } from '../snapshots/gate-registry.ts'
import { describeStore, locateStore } from '../store/database/open-database.ts'
import { writeServerInfo } from '../store/installation/data-folder.ts'
import { createLog, type Log, logBroken } from '../telemetry/log.ts'
import { composeGatehouse, type Gatehouse, VERSION } from './compose.ts'
import { obeySignals } from './hear-signals.ts'
import { listenForMetrics } from './listen-for-metrics.ts'
import { noteConfiguration } from './reload-configuration.ts'
import { folderToAdd, welcome } from './welcome.ts'
import type { WorkerChannel } from './worker-channel.ts'

/** Interval of the search for compiler threads, which start in the first seconds. */
const COMPILERS_EVERY_MS = 10_000

export interface ServeOptions {
  readonly settings: Settings
  readonly readSettings: () => Promise<Settings>
  readonly withSandbox: boolean
  readonly isForgetting: boolean
  readonly channel?: WorkerChannel | undefined
}

export async function serve({
  settings,
  readSettings,
  withSandbox,
  isForgetting,
  channel,
}: ServeOptions): Promise<void> {
  const log = createLog(settings.logLevel, channel === undefined ? null : { worker: channel.index })
  if (channel === undefined) warnOfUnknown(settings, log)
  // The supervisor runs one sandbox for all workers, and sets SANDBOX_BASE_URL for them.
  const sandbox = withSandbox && channel === undefined ? await loadSandbox() : undefined
  const knownAddresses = sandboxAddresses(
    settings.providerBaseUrls.get(sandboxProvider.id) ?? sandbox?.url,
  )
  const worker =
    channel === undefined
      ? undefined
      : { index: channel.index, collectMetrics: () => channel.collect() }
  const composed = {
    settings,
    log,
    readSettings,
    onReloadBegun: (ids: readonly string[]) => channel?.reloading(ids),
    knownAddresses,
    plans: settings.plans,
    hasTelemetry: true,
    worker,
  }
  const gatehouse = await composeGatehouse(composed).catch(async (error: unknown) => {
    // A listener keeps the process alive, even after a failed start.
    await sandbox?.stop()
    throw error
  })
  let listener: Listener | undefined
  let metrics: Listener | undefined
  try {
    // The gateway listens before creating a key: otherwise a failed start could leave a key in the
    // store that was never shown.
    const address = { host: settings.host, port: settings.port, isShared: channel !== undefined }
    listener = listen(address, doorOf(gatehouse, settings), {
      connections: connectionLimits(settings),
      descriptors: monitorDescriptors({ clock: systemClock, onChange: logDescriptors(log) }),
      onBroken: logBroken(log),
    })
    if (channel === undefined) metrics = listenForMetrics(gatehouse.metrics, settings, log)
    if (channel === undefined) noteConfiguration(settings, log, isForgetting)
    const isFirst = channel === undefined || channel.isFirst
    const firstKey = isFirst ? await ensureFirstKey(gatehouse, settings, log) : undefined
    if (withSandbox && isFirst) await ensureDemoGate(gatehouse)
    writeServerInfo(settings.dataFolder, { pid: process.pid, url: listener.url })
    yieldCompilers()
    systemClock.every(COMPILERS_EVERY_MS, yieldCompilers)
    const running = { gatehouse, listener, metrics, sandbox, settings, log }
    const reload = () => void gatehouse.reload()
    if (channel === undefined) obeySignals({ end: endOnSignal(running), reload })
    else takeOrders(running, channel, reload)
    log.info(
      {
        url: listener.url,
        version: VERSION,
        dataFolder: settings.dataFolder,
        store: describeStore(locateStore(settings)),
        defaultAccount: settings.defaultAccount,
      },
      'ready',
    )
    if (channel === undefined)
      process.stdout.write(
        welcome(listener.url, { firstKey, withSandbox, commandFolder: folderToAdd() }),
      )
    else channel.ready({ url: listener.url, firstKey: firstKey?.reveal() ?? null })
  } catch (error) {
    await listener?.stop()
    await metrics?.stop()
    await gatehouse.close()
    await sandbox?.stop()
    throw error
  }
}

async function loadSandbox(): Promise<Sandbox> {
  const { startSandbox } = await import('../sandbox/start-sandbox.ts')
  return startSandbox()
}

export function warnOfUnknown(settings: Settings, log: Log): void {
  for (const name of settings.unknownVariables)
    log.warn({ name }, 'unknown setting: is it misspelt?')
}

function doorOf(gatehouse: Gatehouse, { requestsPerAddress, users }: Settings): Handle {
  return boundByAddress(gatehouse.serve, {
    requests: requestsPerAddress,
    clientAddressHeader: users.clientAddressHeader,
  })
}

/**
 * Added to the longest silence of an upstream, in milliseconds: afterwards, only the client can be
 * stalling.
 */
const STALL_GRACE_MS = 60_000

function connectionLimits({ idleConnectionMs, keepAliveMs, timeouts }: Settings): ConnectionLimits {
  return {
    idleMs: idleConnectionMs,
    stallMs: Math.max(timeouts.idleMs, keepAliveMs) + STALL_GRACE_MS,
  }
}

function logDescriptors(log: Log) {
  return (isCrowded: boolean, figures: { readonly open: number; readonly most: number }) =>
    isCrowded
      ? log.warn(figures, 'nearly all file descriptors are in use: idle connections are closed')
      : log.info(figures, 'file descriptors are available again: idle connections are kept')
}

export async function ensureFirstKey(
  gatehouse: Pick<Gatehouse, 'keys'>,
  { bootstrapKey }: Pick<Settings, 'bootstrapKey'>,
  log: Pick<Log, 'warn'>,
): Promise<Secret | undefined> {
  if (gatehouse.keys.countOf(DEFAULT_ACCOUNT) > 0) return undefined
  const label = { accountId: DEFAULT_ACCOUNT, name: 'first key' }
  const first = await gatehouse.keys.ensureFirst(label, bootstrapKey)
  if (first.type === 'refused')
    log.warn({}, `GATEHOUSE_BOOTSTRAP_KEY is ignored: ${REFUSED_KEYS[first.reason]}`)
  return first.type === 'created' ? first.key : undefined
}

const MAKE_ANOTHER =
  'The account has no key: create one with `gatehouse keys create`, then remove the variable.'

const REFUSED_KEYS = {
  deleted: `this key was deleted, which is final. ${MAKE_ANOTHER}`,
  taken: `this key belongs to another account. ${MAKE_ANOTHER}`,
}

const DEMO_GATE = 'demo' as GateId

async function ensureDemoGate(gatehouse: Gatehouse): Promise<void> {
  if (gatehouse.gates.find(DEFAULT_ACCOUNT, DEMO_GATE) !== undefined) return
  const demo: NewGate = {
    id: DEMO_GATE,
    displayName: 'Demo',
    description: 'Answers from the built-in sandbox: no real model, no account, no cost.',
    // Accepts what every kind of client sends: temperatures, and Codex's encrypted reasoning.
    targets: [{ model: `${sandboxProvider.id}/echo-lenient` }],
    timeoutMs: null,
    maxRetries: 0,
  }
  await gatehouse.gates.create(DEFAULT_ACCOUNT, demo).catch(async (error: unknown) => {
    // Another node that starts at the same time has created the gate.
    if (!(error instanceof GatewayError && error.kind === 'conflict')) throw error
    await gatehouse.catchUp()
  })
}

interface Running {
  readonly gatehouse: Gatehouse
  readonly listener: Listener
  readonly metrics: Listener | undefined
  readonly sandbox: Sandbox | undefined
  readonly settings: Settings
  readonly log: Log
}

function takeOrders(running: Running, channel: WorkerChannel, reload: () => void): void {
  if (running.gatehouse.renderMetrics !== undefined)
    channel.onRender(running.gatehouse.renderMetrics)
  channel.onReload(reload)
  channel.onEnd((reason) => {
    running.log.info({ reason }, 'shutting down: open calls are finished first')
    endAndExit(running)
  })
}

/** The first signal ends the server gracefully, the second immediately. */
function endOnSignal(running: Running): (signal: NodeJS.Signals) => void {
  let isEnding = false
  return (signal) => {
    if (isEnding) process.exit(1)
    isEnding = true
    const { drainDelayMs } = running.settings
    running.log.info({ signal, drainDelayMs }, 'shutting down: open calls are finished first')
    endAndExit(running)
  }
}

function endAndExit(running: Running): void {
  end(running).then(
    () => process.exit(0),
    (error) => {
      running.log.error({ err: error }, 'could not shut down cleanly')
      process.exit(1)
    },
  )
}

/** Time for interrupted streams to notify their clients. */
const FAREWELL_MS = 1_000

async function end({
  gatehouse,
  listener,
  metrics,
  sandbox,
  settings,
  log,
}: Running): Promise<void> {
  gatehouse.beginDraining()
  listener.beginDraining()
  if (settings.drainDelayMs > 0) await Bun.sleep(settings.drainDelayMs)
  if (!(await listener.drain(settings.shutdownTimeoutMs))) {
    log.warn(
      { timeoutMs: settings.shutdownTimeoutMs },
      'open calls did not end in time and are aborted',
    )
    gatehouse.cutOff()
    await listener.drain(FAREWELL_MS)
  }
  await listener.stop()
  await metrics?.stop()
  await sandbox?.stop()
  await gatehouse.close()
}

const COMPILER = 'JITWorker'
const THREADS = '/proc/self/task'
/**
 * Niceness at which compiler threads get a quarter of a contended core, so that calls are served
 * immediately and a busy node still becomes fast within seconds (docs/decisions/0006).
 */
const NICER_BY = 5

/**
 * Lets calls run before the runtime's compilers on a contended core. Call this repeatedly, because
 * threads may start later. Linux only: other systems have no niceness per thread.
 */
export function yieldCompilers(): void {
  if (process.platform !== 'linux') return
  const niceness = Math.min(19, getPriority() + NICER_BY)
  for (const thread of readdirSync(THREADS)) {
    try {
      const name = readFileSync(`${THREADS}/${thread}/comm`, 'utf8')
      if (name.startsWith(COMPILER)) setPriority(Number(thread), niceness)
    } catch {
      // The thread has ended, or the system forbids the change; calls are served as before.
    }
  }
}
