/** Asks a second target when the first is late, and uses the faster answer. */

import type { Stopwatch, Timekeeper } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { Leaving } from '../../net/messages.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import { giveUpAttempt } from '../call.ts'
import type { AttemptRecord } from '../call-observer.ts'
import type { Target } from '../plan/compile-target.ts'
import { type AskPorts, type Attempted, askTarget, noteTarget } from './ask-target.ts'
import type { Attempting } from './outgoing-request.ts'
import { movesOn } from './retry.ts'

export interface HedgedTargets {
  readonly first: Target
  readonly second: Target
  /** How long the first target has for its first byte, in milliseconds. */
  readonly afterMs: number
  readonly onHedge: () => void
}

/**
 * The slower exchange is cancelled, and settle.ts counts its usage too.
 * @throws the errors of `askTarget`: the first target's if it failed in time, else the last
 * failure, unless a target found a mistake of the caller
 */
export async function askHedged(
  ports: AskPorts,
  input: Attempting,
  { first, second, afterMs, onHedge }: HedgedTargets,
): Promise<Attempted> {
  const failures: Failed[] = []
  const early = ask(ports, input, first, failures)
  if (await settlesWithin(ports.clock, early.attempted, afterMs)) return await early.attempted
  onHedge()
  const late = ask(ports, input, second, failures)
  try {
    const winner = await Promise.any([early.attempted, late.attempted])
    noteTarget(input.call.attempts, winner.target)
    cancel(ports.clock, winner.target === first ? late : early)
    return winner
  } catch (none) {
    const decisive = decisiveOf(failures)
    if (decisive === undefined) throw none
    // The record names the target whose failure ends the call, so the owner of that target pays.
    noteTarget(input.call.attempts, decisive.target)
    throw decisive.thrown
  }
}

interface Failed {
  readonly target: Target
  readonly thrown: unknown
}

interface PendingAttempt {
  readonly attempted: Promise<Attempted>
  readonly leave: Leaving
  readonly attempt: AttemptRecord | undefined
}

function ask(
  ports: AskPorts,
  input: Attempting,
  target: Target,
  failures: Failed[],
): PendingAttempt {
  const leave = new Leaving()
  const { signal } = input.call.request
  if (signal.aborted) leave.abort()
  else signal.addEventListener('abort', () => leave.abort(), { once: true })
  const attempted = askTarget(ports, input, target, leave)
  attempted.catch((thrown: unknown) => void failures.push({ target, thrown }))
  return { attempted, leave, attempt: input.call.attempts.list.at(-1) }
}

/**
 * Closes an answer that began at the same moment as the used answer, and ignores the attempt's
 * failure.
 */
function cancel(clock: Stopwatch, { attempted, leave, attempt }: PendingAttempt): void {
  // Recorded immediately, because the call may be settled before the attempt notices.
  if (attempt !== undefined) giveUpAttempt(clock, attempt)
  leave.abort()
  attempted.then(
    ({ answer }) => {
      if (answer.type !== 'whole') answer.exchange.close()
    },
    () => undefined,
  )
}

function decisiveOf(failures: readonly Failed[]): Failed | undefined {
  return (
    failures.find(({ thrown }) => thrown instanceof UpstreamFailure) ??
    failures.find(({ thrown }) => thrown instanceof GatewayError && !movesOn(thrown)) ??
    failures.at(-1)
  )
}

function settlesWithin(clock: Timekeeper, promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const callOff = clock.after(ms, () => resolve(false))
    const settled = () => {
      callOff()
      resolve(true)
    }
    promise.then(settled, settled)
  })
}
