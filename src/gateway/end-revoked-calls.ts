/**
 * Ends running calls whose caller may no longer call: immediately after a revocation, and
 * periodically for expired keys and ended sessions.
 */
import type { Timekeeper } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import { isSessionId, type SessionId } from '../core/ids.ts'
import { stoppedError } from '../core/stop.ts'
import type { Deadlines, WaitingCall } from '../net/deadlines.ts'
import { keyRevoked } from './attempt/failures.ts'
import type { KeyStore, StopStore } from './ports.ts'

export interface RevokedCallsOptions {
  readonly clock: Pick<Timekeeper, 'every'>
  readonly keys: Pick<KeyStore, 'find'>
  readonly stops: StopStore
  /** Undefined: no call uses a session. */
  readonly sessions?: SessionStore | undefined
  readonly deadlines: Pick<Deadlines, 'revoke'>
  /** The longest time that a call continues after its key expired, in milliseconds. */
  readonly withinMs: number
}

export interface SessionStore {
  /** Returns the ids that are still valid; rejects when the lookup fails. */
  findThere(ids: readonly SessionId[]): Promise<ReadonlySet<string>>
  reportFailure(cause: unknown): void
}

/** Calls that ended because of one deleted key or one stop. */
export interface EndedCalls {
  /** The id of the key, or of the stopped user or access token. */
  readonly id: string
  readonly calls: number
}

export class RevokedCalls {
  readonly #options: RevokedCallsOptions
  #isLooking = false

  constructor(options: RevokedCallsOptions) {
    this.#options = options
  }

  /** Starts the periodic checks. @returns a function that stops them */
  start(): () => void {
    return this.#options.clock.every(this.#options.withinMs, () => {
      this.end()
      this.#endSessions()
    })
  }

  /** Ends the calls that must end by what this node holds in memory. */
  end(): readonly EndedCalls[] {
    const ended = new Map<string, Set<WaitingCall>>()
    this.#options.deadlines.revoke((call) => {
      const revocation = this.#find(call)
      if (revocation === undefined) return undefined
      // A hedged call waits twice, so a set counts the call once.
      const calls = ended.get(revocation.id) ?? new Set<WaitingCall>()
      ended.set(revocation.id, calls.add(call))
      return revocation.reason
    })
    return Array.from(ended, ([id, { size: calls }]) => ({ id, calls }))
  }

  /** Why this call may not ask an upstream any more; undefined: the call may ask. */
  reasonFor(call: WaitingCall): GatewayError | undefined {
    return this.#find(call)?.reason
  }

  #find({ caller }: WaitingCall): Revocation | undefined {
    if (caller?.owner === undefined) return undefined
    const { keys, stops } = this.#options
    const { accountId, keyId, owner } = caller
    if (isSessionId(owner)) return toRevocation(stops.find(accountId, keyId))
    const found = keys.find(owner)
    return found === undefined ? { id: keyId, reason: keyRevoked() } : toRevocation(found.stop)
  }

  #endSessions(): void {
    const { deadlines, sessions } = this.#options
    if (this.#isLooking || sessions === undefined) return
    const open = new Set<SessionId>()
    deadlines.revoke(({ caller }) => {
      if (caller?.owner !== undefined && isSessionId(caller.owner)) open.add(caller.owner)
      return undefined
    })
    if (open.size === 0) return
    this.#isLooking = true
    this.#endMissing(open, sessions)
      .catch(sessions.reportFailure)
      .finally(() => {
        this.#isLooking = false
      })
  }

  async #endMissing(open: ReadonlySet<SessionId>, { findThere }: SessionStore): Promise<void> {
    const there = await findThere([...open])
    this.#options.deadlines.revoke(({ caller }) => {
      const owner = caller?.owner
      const isMissing =
        owner !== undefined && isSessionId(owner) && open.has(owner) && !there.has(owner)
      return isMissing ? keyRevoked() : undefined
    })
  }
}

interface Revocation {
  readonly id: string
  readonly reason: GatewayError
}

function toRevocation(stop: ReturnType<StopStore['find']>): Revocation | undefined {
  return stop === undefined ? undefined : { id: stop.id, reason: stoppedError(stop) }
}
