/**
 * Reloads the configuration files of all nodes: publishes the request in the change feed, follows
 * the requests of others, and waits for their reports.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Follower } from '../cluster/change-followers.ts'
import type {
  ConfigurationReport,
  NodeConfiguration,
  ReloadedProcess,
} from '../core/configuration-report.ts'
import { createReloadId } from '../core/ids.ts'
import type { NodeWithSettings } from '../store/changes/change-feed.ts'
import type { NamedThing } from '../store/database/find-some.ts'
import type { Log } from '../telemetry/log.ts'
import type { JoinedNode } from './compose-nodes.ts'
import type { ConfigurationReload } from './reload-configuration.ts'

/** Reading the largest file takes a busy node some seconds. */
const ANSWER_WITHIN_MS = 15_000
const FIRST_LOOK_MS = 10
const LONGEST_LOOK_MS = 250
/** Maximum number of remembered reloads. Few reloads overlap. */
const MOST_REMEMBERED = 20
/**
 * `/readyz` is requested several times a second, so the digests of other nodes are cached this
 * long.
 */
const DIGESTS_LIFE_MS = 2_000

type Reports = Pick<JoinedNode, 'nodeId' | 'report' | 'others'>

export interface NodeReloadParts {
  readonly reload: ConfigurationReload
  readonly log: Pick<Log, 'warn'>
  readonly host: string
  /** Null when this process serves without workers. */
  readonly worker: number | null
  /** Called with the ids of reloads of all nodes that this process begins. */
  readonly onBegun?: ((ids: readonly string[]) => void) | undefined
  readonly answerWithinMs?: number
}

/** @throws when the reload cannot be published */
export type PublishReload = (reload: {
  readonly id: string
  readonly inForce: string | null
  readonly next: string | null
}) => Promise<void>

export interface ReloadedNodes {
  readonly id: string
  /** This node comes first. */
  readonly nodes: readonly ReloadedProcess[]
}

export class NodeReload implements Follower {
  readonly #parts: NodeReloadParts
  #node: Reports | undefined
  /** Ids of the latest reloads that this node has begun (`#begun`) and finished (`#finished`). */
  #begun: readonly string[] = []
  #finished: readonly string[] = []
  #others: readonly NodeWithSettings[] = []
  #lookedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: NodeReloadParts) {
    this.#parts = parts
  }

  /** Connects this node to the other nodes, which get its reports from now on. */
  async join(node: Reports | undefined): Promise<void> {
    this.#node = node
    await this.report()
  }

  /** Reloads the file of this process only. */
  async run(): Promise<ConfigurationReport> {
    const report = await this.#parts.reload.run()
    await this.report()
    return report
  }

  /**
   * Reloads the file of every node. Waits some seconds at most for the active nodes.
   * @throws errors of `publish`; nothing is applied then
   */
  async runEverywhere(publish: PublishReload): Promise<ReloadedNodes> {
    const { reload, host, worker } = this.#parts
    const id = createReloadId()
    this.#begin([id])
    const others = (await this.#node?.others()) ?? []
    const report = await reload.run((inForce, next) => publish({ id, inForce, next }))
    this.#finished = remember(this.#finished, [id])
    await this.report()
    const own = { node: this.#node?.nodeId ?? null, host, worker, report }
    return { id, nodes: [own, ...(await this.#reportsOf(id, others))] }
  }

  /** Does not wait for the reloads, because a slow disk must not cost this node its lease. */
  async follow(things: readonly NamedThing[]): Promise<void> {
    const ids = things.map((thing) => thing.id).filter((id) => !this.#begun.includes(id))
    if (ids.length === 0) return
    this.#begin(ids)
    void this.#followReloads(ids)
  }

  /** A node that missed changes may have missed a reload, so the node reloads its file. */
  async followAll(): Promise<void> {
    this.#begin([])
    void this.#followReloads([])
  }

  #begin(ids: readonly string[]): void {
    this.#begun = remember(this.#begun, ids)
    this.#parts.onBegun?.(ids)
  }

  async #followReloads(ids: readonly string[]): Promise<void> {
    await this.#parts.reload.run()
    this.#finished = remember(this.#finished, ids)
    await this.report()
  }

  /** Writes this node's report for the others. A failure is logged. */
  async report(): Promise<void> {
    const { reload, worker, log } = this.#parts
    const configuration: NodeConfiguration = {
      ...reload.report,
      worker,
      reloads: this.#finished,
    }
    await this.#node
      ?.report(reload.settings.shared, configuration)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'the report of the configuration file could not be written'),
      )
  }

  async #reportsOf(id: string, others: readonly NodeWithSettings[]): Promise<ReloadedProcess[]> {
    const deadlineMs = performance.now() + (this.#parts.answerWithinMs ?? ANSWER_WITHIN_MS)
    let latest = others
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LONGEST_LOOK_MS, lookMs * 1.5)) {
      // Postgres may be lost meanwhile; the result then names the other nodes as not answering.
      latest = (await this.#node?.others().catch(() => undefined)) ?? latest
      const asked = latest.filter((node) => others.some((other) => other.id === node.id))
      const isDone = asked.every((node) => hasFinished(node, id))
      if (isDone || performance.now() >= deadlineMs)
        return asked.map((node) => ({
          node: node.id,
          host: node.host,
          worker: node.configuration?.worker ?? null,
          report: hasFinished(node, id) ? node.configuration : undefined,
        }))
      await sleep(lookMs)
    }
  }

  /** Reads the other nodes' reports, unless the reports were read a moment ago. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#lookedAtMs < DIGESTS_LIFE_MS) return
    this.#lookedAtMs = performance.now()
    // An outage is not reported here, because the check of the store reports an outage.
    this.#others = (await this.#node?.others().catch(() => undefined)) ?? this.#others
  }

  /** For `/readyz`. */
  get state(): ConfigurationState {
    const { digest, faults } = this.#parts.reload.report
    const others = this.#others.flatMap(({ configuration }) =>
      configuration === undefined ? [] : [configuration.digest],
    )
    return { digest, isRefused: faults.length > 0, others }
  }
}

export interface ConfigurationState {
  /** Digest of the configuration file in force here; null without a file. */
  readonly digest: string | null
  /** The latest reload changed nothing, because the file is invalid. */
  readonly isRefused: boolean
  /** Digests of the other active nodes. */
  readonly others: readonly (string | null)[]
}

function hasFinished({ configuration }: NodeWithSettings, id: string): boolean {
  return configuration?.reloads.includes(id) === true
}

function remember(known: readonly string[], ids: readonly string[]): readonly string[] {
  return [...known, ...ids].slice(-MOST_REMEMBERED)
}
