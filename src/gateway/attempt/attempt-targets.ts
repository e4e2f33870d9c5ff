/**
 * Stage 5, attempt: asks the targets in order until a target begins a usable answer. No byte was
 * forwarded before that, so a failure still gets an HTTP status.
 */
import { GatewayError, isRepeatedInVain } from '../../core/errors.ts'
import type { Deadline, Deadlines, DueCause } from '../../net/deadlines.ts'
import { UpstreamFailure } from '../../net/upstream-failure.ts'
import type { AdmittedCall, AttemptLog } from '../call.ts'
import type { Target } from '../plan/compile-target.ts'
import type { Plan } from '../plan/plan-targets.ts'
import { type AskPorts, type Attempted, askTarget } from './ask-target.ts'
import { toFailure } from './failures.ts'
import { askHedged, type HedgedTargets } from './hedge.ts'
import type { Attempting } from './outgoing-request.ts'
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
  const input: Attempting = { call, plan, endsAt, next: 0, caller: undefined, mayPass: false }
  let failure: GatewayError | undefined
  const { attempts } = call
  let failed: Pick<AttemptLog, 'target' | 'credential'> = attempts
  for (let target = targets[0]; target !== undefined; target = targets[input.next]) {
    // No target is asked after the deadline, so no target is blamed for the time that other targets
    // used.
    if (failure !== undefined) {
      if (call.request.signal.aborted) throw toEnded('cancelled', target)
      if (ports.clock.elapsed() >= endsAt) break
    }
    input.next += 1
    for (let retry = 0; retry <= gate.maxRetries; retry += 1) {
      if (failure !== undefined && retry > 0) {
        const delayMs = retryDelayMs(retry, failure)
        // The delay would exceed the deadline, so the next target is asked now.
        if (ports.clock.elapsed() + delayMs >= endsAt) break
        await pause(ports, call, target, delayMs)
      }
      try {
        const attempted = await ask(ports, input, target)
        attempts.firstByteAt = ports.clock.elapsed()
        return attempted
      } catch (thrown) {
        if (!(thrown instanceof GatewayError)) throw thrown
        // The caller's own mistake fails at every target.
        if (!movesOn(thrown)) throw thrown
        const isSkipped = isForeignReasoning(thrown)
        if (isSkipped) attempts.skipped = [...attempts.skipped, target.name]
        // A skipped or unusable target does not replace the failure of a target that really tried.
        if (failure === undefined || !(isSkipped || thrown.targetFault !== undefined)) {
          failure = thrown
          failed = { target: attempts.target, credential: attempts.credential }
        }
        if (!isWorthRetrying(thrown)) break
      }
    }
  }
  if (failure === undefined) throw new GatewayError('internal_error', 'The gate has no target.')
  attempts.target = failed.target
  attempts.credential = failed.credential
  // The last target would refuse again, but an earlier target may answer next time, so the client
  // may retry.
  if (input.mayPass && isRepeatedInVain(failure)) call.headers['x-should-retry'] = 'true'
  throw failure
}

function ask(ports: AskPorts, input: Attempting, target: Target): Promise<Attempted> {
  const { gate, targets } = input.plan
  const second = targets[input.next]
  if (gate.hedgeAfterMs === null || second === undefined)
    return askTarget(ports, input, target, input.call.request.signal)
  return askBoth(ports, input, { first: target, second, afterMs: gate.hedgeAfterMs })
}

function askBoth(
  ports: AskPorts,
  input: Attempting,
  targets: Omit<HedgedTargets, 'onHedge'>,
): Promise<Attempted> {
  const onHedge = () => {
    input.next += 1
  }
  return askHedged(ports, input, { ...targets, onHedge })
}

function pause(ports: AttemptPorts, call: AdmittedCall, target: Target, ms: number): Promise<void> {
  const { clock, deadlines } = ports
  const { signal } = call.request
  if (signal.aborted) return Promise.reject(toEnded('cancelled', target))
  return new Promise((resolve, reject) => {
    const wait: Deadline = {
      // A timer ends the pause exactly; deadlines are checked only every few milliseconds.
      dueAt: Number.POSITIVE_INFINITY,
      owner: call,
      signal,
      onDue(cause, reason) {
        callOff()
        reject(toEnded(cause, target, reason))
      },
    }
    const callOff = clock.after(ms, () => {
      deadlines.remove(wait)
      resolve()
    })
    deadlines.add(wait)
  })
}

function toEnded(cause: DueCause, target: Target, reason?: Error): Error {
  if (cause === 'cancelled')
    return new UpstreamFailure(cause, 'The client left before the answer was complete.')
  const type = cause === 'due' ? 'total_timeout' : cause
  const message = 'The gateway is shutting down and does not retry.'
  return toFailure(new UpstreamFailure(type, message, { cause: reason }), target.name)
}
