/** Asks a second target when the first is late, and takes whichever begins to answer first. */

import type { Stopwatch, Timekeeper } from '../../core/clock.ts'
import { Leaving } from '../../http/messages.ts'
import { UpstreamFailure } from '../../upstream/upstream-failure.ts'
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
 * fail
 */
export async function askHedged(
  ports: AskPorts,
  input: Attempting,
  { first, second, afterMs, onHedge }: HedgedTargets,
): Promise<Attempted> {
  const early = ask(ports, input, first)
  if (await settlesWithin(ports.clock, early.attempted, afterMs)) return await early.attempted
  onHedge()
  const late = ask(ports, input, second)
  try {
    const winner = await Promise.any([early.attempted, late.attempted])
    noteTarget(input.call, winner.target)
    cancel(ports.clock, winner.target === first ? late : early)
    return winner
  } catch (thrown) {
    throw lastFailure(thrown)
  }
}

interface Asked {
  readonly attempted: Promise<Attempted>
  readonly leave: Leaving
  readonly attempt: AttemptRecord | undefined
}

function ask(ports: AskPorts, input: Attempting, target: Target): Asked {
  const leave = new Leaving()
  const { signal } = input.call.request
  if (signal.aborted) leave.abort()
  else signal.addEventListener('abort', () => leave.abort(), { once: true })
  const attempted = askTarget(ports, input, target, leave)
  return { attempted, leave, attempt: input.call.attempts.at(-1) }
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

function lastFailure(thrown: unknown): unknown {
  if (!(thrown instanceof AggregateError)) return thrown
  const cancelled = thrown.errors.find((error) => error instanceof UpstreamFailure)
  return cancelled ?? thrown.errors.at(-1)
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
