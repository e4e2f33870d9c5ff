/** Stage fuses: stops sessions and users that spend too much or call too often (decision 0123). */
import {
  type BlownFuse,
  type Fuse,
  type FuseCause,
  type FusedHead,
  fuseError,
  type OwnedFuse,
} from '../core/fuse.ts'
import type { Gate } from '../core/gate.ts'
import type { AccountId, KeyId } from '../core/ids.ts'
import { fusedStopId } from '../core/stop.ts'
import type { Attribution } from './attribute.ts'
import type { StopStore } from './ports.ts'

/** A session or a user, named by `fusedStopId`. */
export interface CountedHead {
  readonly accountId: AccountId
  readonly stopId: string
}

export interface FuseCounting {
  noteCall(fuse: Fuse, head: CountedHead): FuseCause | undefined
  noteCost(fuse: Fuse, head: CountedHead, nanoUsd: number): FuseCause | undefined
}

export interface FusePorts {
  readonly counters: FuseCounting
  readonly stops: StopStore
  /**
   * Returns immediately, with the stop already in `stops`. Called again for later calls of the
   * head.
   */
  readonly onBlown: (blown: BlownFuse) => void
}

interface CheckedCall {
  readonly accountId: AccountId
  readonly keyId: KeyId
  readonly names: Pick<Attribution, 'user' | 'session'>
  /** False for a free call, such as counting tokens, which agents send in bursts. */
  readonly isCharged: boolean
}

/** The fuses that count a call. Undefined: none. */
export function findFuses(
  gate: Gate | undefined,
  ofBudgets: readonly OwnedFuse[] | undefined,
): readonly OwnedFuse[] | undefined {
  const fuse = gate?.fuse ?? null
  if (gate === undefined || fuse === null) return ofBudgets
  const ofGate = { type: 'gate', id: gate.id, name: gate.id, fuse } as const
  return [ofGate, ...(ofBudgets ?? [])]
}

interface NamedHead extends FusedHead {
  readonly owner: OwnedFuse
  readonly stopId: string
}

export class FusedCall {
  readonly #ports: FusePorts
  readonly #keyId: KeyId
  readonly #isCharged: boolean
  readonly #heads: readonly NamedHead[]

  /** @throws GatewayError `forbidden` when a fuse has stopped the call's session or user */
  constructor(ports: FusePorts, call: CheckedCall, fuses: readonly OwnedFuse[]) {
    this.#ports = ports
    this.#keyId = call.keyId
    this.#isCharged = call.isCharged
    this.#heads = fuses.flatMap((owner) => listHeads(call, owner))
    for (const { accountId, owner, kind, stopId } of this.#heads) {
      const stop = ports.stops.find(accountId, stopId)
      if (stop !== undefined) throw fuseError(owner, kind, stop)
    }
  }

  /**
   * Counts a call that no limit refuses. Agents repeat refused calls (opencode six times), which
   * cost nothing, and must not be stopped after a budget is raised.
   */
  noteCall(): void {
    if (!this.#isCharged) return
    const { counters } = this.#ports
    this.#count((head) => counters.noteCall(head.owner.fuse, head))
  }

  noteCost(nanoUsd: number): void {
    if (nanoUsd === 0) return
    const { counters } = this.#ports
    this.#count((head) => counters.noteCost(head.owner.fuse, head, nanoUsd))
  }

  #count(note: (head: NamedHead) => FuseCause | undefined): void {
    for (const head of this.#heads) {
      const cause = note(head)
      if (cause !== undefined) this.#ports.onBlown({ ...head, keyId: this.#keyId, cause })
    }
  }
}

function listHeads({ accountId, names }: CheckedCall, owner: OwnedFuse): readonly NamedHead[] {
  const { session, user } = names
  const heads: FusedHead[] = []
  if (session !== undefined) heads.push({ accountId, owner, kind: 'session', id: session })
  if (user !== undefined) heads.push({ accountId, owner, kind: 'user', id: user })
  return heads.map((head) => ({ ...head, owner, stopId: fusedStopId(head) }))
}
