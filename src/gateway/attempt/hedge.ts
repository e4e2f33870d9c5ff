/** Asks a second target when the first is late, and takes whichever begins to answer first. */

import type { Stopwatch, Timekeeper } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { Leaving } from '../../net/messages.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import { giveUpAttempt } from '../call.ts'
import type { AttemptRecord } from '../call-observer.ts'
import type { Target } from '../plan/compile-target.ts'
import {
  type AskPorts,
  type Attempted,
  type Attempting,
  askTarget,
  noteTarget,
} from './ask-target.ts'
import { movesOn } from './retry.ts'

export interface HedgedTargets {
  readonly first: Target
  readonly second: Target
  /** How long the first has for its first byte, in milliseconds. */
  readonly afterMs: number
  /** Told when the second is asked. */
  readonly onHedge: () => void
}

/**
 * The loser's exchange is cancelled, and only the winner's answer is relayed; what the loser read
 * is counted (settle.ts).
 * @throws what `askTarget` throws: of the first when it failed in time, else of the last one to
 * fail, unless the other found a mistake of the caller's
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
    const told = toldOf(failures)
    if (told === undefined) throw none
    // The row is that of the target whose failure ends the call: its owner pays for what it read.
    noteTarget(input.call.attempts, told.target)
    throw told.thrown
  }
}

interface Failed {
  readonly target: Target
  readonly thrown: unknown
}

interface Asked {
  readonly attempted: Promise<Attempted>
  readonly leave: Leaving
  readonly attempt: AttemptRecord | undefined
}

/** @param failures gets its own when it fails: they come in the order of time */
function ask(ports: AskPorts, input: Attempting, target: Target, failures: Failed[]): Asked {
  const leave = new Leaving()
  const { signal } = input.call.request
  if (signal.aborted) leave.abort()
  else signal.addEventListener('abort', () => leave.abort(), { once: true })
  const attempted = askTarget(ports, input, target, leave)
  attempted.catch((thrown: unknown) => void failures.push({ target, thrown }))
  return { attempted, leave, attempt: input.call.attempts.list.at(-1) }
}

/**
 * One that began to answer in the same moment is closed; one that has not is cancelled, and its
 * failure means nothing.
 */
function cancel(clock: Stopwatch, { attempted, leave, attempt }: Asked): void {
  // At once: the call may be settled before the attempt notices that it was cancelled.
  if (attempt !== undefined) giveUpAttempt(clock, attempt)
  leave.abort()
  attempted.then(
    ({ answer }) => {
      if (answer.type !== 'whole') answer.exchange.close()
    },
    () => undefined,
  )
}

/** The client's leaving, else the caller's own mistake, else the last failure. */
function toldOf(failures: readonly Failed[]): Failed | undefined {
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
