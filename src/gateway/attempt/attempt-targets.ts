/**
 * Stage 5: ask the targets in order until one begins a usable answer. Nothing has been forwarded
 * yet, so a failure here is still a real HTTP status; once this returns, the call is committed to
 * the target that answered.
 */
import { GatewayError } from '../../core/errors.ts'
import type { Deadline, Deadlines, DueCause } from '../../upstream/deadlines.ts'
import { UpstreamFailure, type UpstreamFailureType } from '../../upstream/upstream-failure.ts'
import type { AdmittedCall } from '../call.ts'
import type { Target } from '../plan/compile-target.ts'
import type { Plan } from '../plan/plan-targets.ts'
import { type AskPorts, type Attempted, type Attempting, askTarget } from './ask-target.ts'
import { toFailure } from './failures.ts'
import { askHedged, type HedgedTargets } from './hedge.ts'
import { isForeignReasoning, isWorthRetrying, movesOn, retryDelayMs } from './retry.ts'

export interface AttemptPorts extends AskPorts {
  readonly deadlines: Pick<Deadlines, 'add' | 'remove'>
}

/**
 * @throws GatewayError of the last target's failure; UpstreamFailure `cancelled` when the client
 * left
 */
export async function attemptTargets(
  ports: AttemptPorts,
  call: AdmittedCall,
  plan: Plan,
): Promise<Attempted> {
  const { gate, targets } = plan
  const endsAt = ports.clock.elapsed() + (gate.timeoutMs ?? ports.timeouts.totalMs)
  const input: Attempting = { call, plan, endsAt, caller: undefined }
  const untried = [...targets]
  let failure: GatewayError | undefined
  for (let target = untried.shift(); target !== undefined; target = untried.shift()) {
    for (let retry = 0; retry <= gate.maxRetries; retry += 1) {
      if (failure !== undefined && retry > 0) {
        const delayMs = retryDelayMs(retry, failure)
        // No time would be left to ask it: the caller would wait for nothing, and the next target
        // may be asked now.
        if (ports.clock.elapsed() + delayMs >= endsAt) break
        await pause(ports, call, target, delayMs)
      }
      try {
        const attempted = await ask(ports, input, target, untried)
        call.firstByteAt = ports.clock.elapsed()
        call.ignored = attempted.ignored
        return attempted
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        // What the caller got wrong here is wrong everywhere.
        if (!movesOn(thrown)) throw thrown
        const isSkipped = isForeignReasoning(thrown)
        if (isSkipped) call.skipped.push(target.name)
        // A target that cannot go on with the conversation is passed over, and says nothing of the
        // one that could not answer.
        if (!isSkipped || failure === undefined) failure = thrown
        if (!isWorthRetrying(thrown)) break
      }
    }
  }
  throw failure ?? new GatewayError('internal_error', 'The gate has no target.')
}

/** @param untried the targets after this one; one that was asked to hedge it is taken out */
function ask(
  ports: AskPorts,
  input: Attempting,
  target: Target,
  untried: Target[],
): Promise<Attempted> {
  const { hedgeAfterMs } = input.plan.gate
  const second = untried[0]
  if (hedgeAfterMs === null || second === undefined)
    return askTarget(ports, input, target, input.call.request.signal)
  return askBoth(ports, input, { first: target, second, afterMs: hedgeAfterMs }, untried)
}

function askBoth(
  ports: AskPorts,
  input: Attempting,
  targets: Omit<HedgedTargets, 'onHedge'>,
  untried: Target[],
): Promise<Attempted> {
  return askHedged(ports, input, { ...targets, onHedge: () => untried.shift() })
}

/**
 * Waits before a retry.
 * @throws UpstreamFailure `cancelled` when the client leaves meanwhile; GatewayError where the key
 * goes or the gateway ends
 */
function pause(ports: AttemptPorts, call: AdmittedCall, target: Target, ms: number): Promise<void> {
  const { clock, deadlines } = ports
  const { signal } = call.request
  return new Promise((resolve, reject) => {
    const owned: Deadline = {
      dueAt: Number.POSITIVE_INFINITY,
      owner: call.caller.keySha256,
      onDue: (cause) => end(toFailure(new UpstreamFailure(asFailure(cause), OVER), target.name)),
    }
    const leave = () => end(new UpstreamFailure('cancelled', LEFT))
    const end = (failure?: Error) => {
      callOff()
      deadlines.remove(owned)
      signal.removeEventListener('abort', leave)
      if (failure === undefined) resolve()
      else reject(failure)
    }
    const callOff = clock.after(ms, () => end())
    deadlines.add(owned)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}

const LEFT = 'The client left before the answer was complete.'
const OVER = 'The gateway is shutting down and asks no target again.'

function asFailure(cause: DueCause): UpstreamFailureType {
  return cause === 'due' ? 'total_timeout' : cause
}
