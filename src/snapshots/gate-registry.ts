import { type Clock, systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { type Gate, listedNamesOf, USUAL_GATE } from '../core/gate.ts'
import { type AccountId, createGateId, type GateId } from '../core/ids.ts'
import { didYouMean } from '../core/nearest-name.ts'
import type { GateStore } from '../gateway/ports.ts'
import { toSentGateId } from '../gateway/settle/sent-gate-id.ts'
import type { GateTableStore } from '../store/resources/gates.ts'
import { GateNames } from './gate-names.ts'
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

export type GateSettings = SettingsOf<Gate>

/** Absent settings are those of `USUAL_GATE`. */
export interface NewGate
  extends Pick<GateSettings, 'description' | 'targets' | 'timeoutMs' | 'maxRetries'>,
    ChangesOf<Pick<GateSettings, keyof typeof USUAL_GATE>> {
  readonly id?: GateId | undefined
  readonly displayName?: string | undefined
}

export type GateChanges = ChangesOf<GateSettings>

export class GateRegistry extends Registry<Gate> implements GateStore {
  readonly #gates: GateRegistryOptions['gates']
  readonly #clock: Clock
  readonly #names = new GateNames()

  private constructor(options: GateRegistryOptions) {
    super(options.gates, 'gate')
    this.#gates = options.gates
    this.#clock = options.clock ?? systemClock
  }

  findNamed(accountId: AccountId, name: string): Gate | undefined {
    return this.find(accountId, name) ?? this.#names.find(accountId, name)
  }

  findCatchAll(accountId: AccountId): Gate | undefined {
    return this.#names.findCatchAll(accountId)
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
      const { displayName = id, description, targets, timeoutMs, maxRetries, ...others } = settings
      const usual: Gate = {
        ...USUAL_GATE,
        ...{ accountId, id, displayName, description, targets, timeoutMs, maxRetries },
        createdAt: now,
        updatedAt: now,
      }
      const gate = withChanges(usual, others)
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

  protected override adopt(gate: Gate): void {
    this.#names.replace(this.find(gate.accountId, gate.id), gate)
    super.adopt(gate)
  }

  protected override forget(accountId: AccountId, id: string): void {
    this.#names.replace(this.find(accountId, id), undefined)
    super.forget(accountId, id)
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
  for (const gate of gates) yield* listedNamesOf(gate)
}
