/** The gates that this node serves, in memory, backed by the store. */
import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { Gate, GateDefaults, Overrides, Strategy } from '../core/gate.ts'
import { type AccountId, createGateId, type GateId } from '../core/ids.ts'
import { didYouMean } from '../core/nearest-name.ts'
import type { GateStore } from '../gateway/ports.ts'
import { toSentGateId } from '../gateway/settle/sent-gate-id.ts'
import type { GateTableStore } from '../store/resources/gates.ts'
import {
  type ChangesOf,
  Registry,
  type RegistryOperation,
  type SettingsOf,
  withChanges,
} from './snapshot.ts'

export interface GateRegistryOptions {
  readonly gates: Pick<GateTableStore, RegistryOperation>
  readonly clock?: Clock
}

/** The customer's settings of a gate, without its id. */
export type GateSettings = SettingsOf<Gate>

export interface NewGate extends Pick<GateSettings, 'targets' | 'timeoutMs' | 'maxRetries'> {
  /** Default `fallback`. */
  readonly strategy?: Strategy | undefined
  readonly hedgeAfterMs?: number | null | undefined
  readonly defaults?: GateDefaults | null | undefined
  readonly overrides?: Overrides | undefined
  /** Default: a generated id. */
  readonly id?: GateId | undefined
  /** Default: the id. */
  readonly displayName?: string | undefined
  readonly description: string
}

export type GateChanges = ChangesOf<GateSettings>

export class GateRegistry extends Registry<Gate> implements GateStore {
  readonly #gates: GateRegistryOptions['gates']
  readonly #clock: Clock

  private constructor(options: GateRegistryOptions) {
    super(options.gates, 'gate')
    this.#gates = options.gates
    this.#clock = options.clock ?? systemClock
  }

  static async load(options: GateRegistryOptions): Promise<GateRegistry> {
    const registry = new GateRegistry(options)
    await registry.followAll()
    return registry
  }

  create(accountId: AccountId, settings: NewGate, assertUsable?: () => void): Promise<Gate> {
    return this.inTurn(async () => {
      assertUsable?.()
      const now = this.#clock.now()
      const id = settings.id ?? createGateId()
      const gate: Gate = {
        accountId,
        id,
        displayName: settings.displayName ?? id,
        description: settings.description,
        targets: settings.targets,
        strategy: settings.strategy ?? 'fallback',
        hedgeAfterMs: settings.hedgeAfterMs ?? null,
        defaults: settings.defaults ?? null,
        overrides: settings.overrides ?? 'ignore',
        timeoutMs: settings.timeoutMs,
        maxRetries: settings.maxRetries,
        createdAt: now,
        updatedAt: now,
      }
      if (!(await this.#gates.insert(gate)))
        throw new GatewayError('conflict', 'A gate with this id already exists.')
      this.adopt(gate)
      return gate
    })
  }

  /**
   * @param assertUsable as in `create`
   * @throws GatewayError `gate_not_found`
   */
  update(
    accountId: AccountId,
    gateId: string,
    changes: GateChanges,
    assertUsable?: () => void,
  ): Promise<Gate> {
    return this.inTurn(async () => {
      const { id } = this.get(accountId, gateId)
      assertUsable?.()
      const updatedAt = this.#clock.now()
      const saved = await this.#gates.change({ accountId, id }, (previous) => ({
        ...withChanges(previous, changes),
        updatedAt,
      }))
      if (saved === undefined) throw this.notFound(accountId, id)
      this.adopt(saved.changed)
      return saved.changed
    })
  }

  /** Runs `work`, which depends on the gates, while no gate can change. */
  whileUnchanged<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.inTurn(work)
  }

  protected override notFound(accountId: AccountId, id: string): GatewayError {
    const sent = toSentGateId(id)
    const named = sent === id ? `'${id}' in this account` : 'with this id'
    const hint = didYouMean(id, namesOf(this.heldBy(accountId)))
    return new GatewayError(
      'gate_not_found',
      `There is no gate ${named}.${hint} List the gates with GET /v1/gates.`,
    )
  }
}

function* namesOf(gates: Iterable<Gate>): Iterable<string> {
  for (const { id } of gates) yield id
}
