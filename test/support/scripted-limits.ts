/** Limits that follow a script, and keep what was admitted, reserved and returned. */
import type { GatewayError } from '../../src/core/errors.ts'
import type { OwnedFuse } from '../../src/core/fuse.ts'
import type { SpendState } from '../../src/core/spend-state.ts'
import type {
  CallAhead,
  Caller,
  Limits,
  PriceDemand,
  Slot,
  Spent,
  Ticket,
} from '../../src/gateway/ports.ts'

type MaybeLater<T> = T | Promise<T>

export interface LimitsScript {
  /** Refuses by throwing, before the body is read. */
  readonly acquireSlot?: () => void
  readonly priceDemand?: PriceDemand
  readonly limitsSpend?: true
  readonly estimatesUnpriced?: true
  /** Waited for before anything else is asked. */
  readonly whenReady?: () => Promise<void> | undefined
  /** Refuses by throwing; a promise: other nodes are asked. */
  readonly admit?: () => MaybeLater<undefined>
  readonly reserveQuota?: () => MaybeLater<GatewayError | undefined>
  /** Told of each place that is given back. */
  readonly onSettled?: (spent: Spent) => void
  readonly headers?: Readonly<Record<string, string>>
  readonly spend?: SpendState
  readonly ownSpend?: readonly SpendState[]
  readonly fuses?: readonly OwnedFuse[]
}

export class ScriptedTicket implements Ticket {
  readonly caller: Caller
  readonly call: CallAhead
  readonly headers: Readonly<Record<string, string>>
  readonly spend: SpendState | undefined
  readonly spent: Spent[] = []
  reservations = 0
  readonly #script: LimitsScript

  constructor(caller: Caller, call: CallAhead, script: LimitsScript) {
    this.caller = caller
    this.call = call
    this.headers = script.headers ?? { 'x-ratelimit-remaining-requests': '41' }
    this.spend = script.spend
    this.#script = script
  }

  reserveQuota(): MaybeLater<GatewayError | undefined> {
    this.reservations += 1
    return this.#script.reserveQuota?.()
  }

  settle(spent: Spent): void {
    this.spent.push(spent)
    this.#script.onSettled?.(spent)
  }
}

export class ScriptedLimits implements Limits {
  readonly tickets: ScriptedTicket[] = []
  slots = 0
  readonly #script: LimitsScript

  constructor(script: LimitsScript = {}) {
    this.#script = script
  }

  fusesFor(): readonly OwnedFuse[] | undefined {
    return this.#script.fuses
  }

  acquireSlot(): Slot {
    this.#script.acquireSlot?.()
    this.slots += 1
    let isHeld = true
    return {
      release: () => {
        if (isHeld) this.slots -= 1
        isHeld = false
      },
    }
  }

  estimatesUnpriced(): boolean {
    return this.#script.estimatesUnpriced === true
  }

  limitsSpend(): boolean {
    return this.#script.limitsSpend === true
  }

  ownSpend(): readonly SpendState[] {
    return this.#script.ownSpend ?? []
  }

  priceDemand(): PriceDemand | undefined {
    return this.#script.priceDemand
  }

  whenReady(): Promise<void> | undefined {
    return this.#script.whenReady?.()
  }

  admit(caller: Caller, call: CallAhead): MaybeLater<Ticket> {
    const isAdmitted = this.#script.admit?.()
    const admit = () => {
      const ticket = new ScriptedTicket(caller, call, this.#script)
      this.tickets.push(ticket)
      return ticket
    }
    return isAdmitted instanceof Promise ? isAdmitted.then(admit) : admit()
  }

  problems(): string[] {
    if (this.slots !== 0) return [`${this.slots} slots are still held`]
    return this.tickets
      .filter(({ spent }) => spent.length !== 1)
      .map(({ spent }) => `a place was given back ${spent.length} times`)
  }
}
