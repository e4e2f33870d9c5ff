/**
 * Asks every target of a gate once, with the code that calls use, and reports figures but no
 * answers.
 */

import type { CallRecord } from '../../core/call.ts'
import type { DialectId } from '../../core/dialects.ts'
import { ERROR_POLICY, type ErrorKind } from '../../core/errors.ts'
import type { Gate } from '../../core/gate.ts'
import type { Usage } from '../../core/usage.ts'
import { toResponse } from '../../net/messages.ts'
import { readUpstreamError } from '../../wire/upstream-error.ts'
import { createPipeline, type PipelinePorts } from '../pipeline.ts'
import { describeUnreachable } from '../plan/plan-refusals.ts'
import { findUpstream } from '../plan/plan-targets.ts'
import type { Caller } from '../ports.ts'
import { chooseQuestion, type Question } from './test-questions.ts'

export interface TargetTest {
  readonly target: string
  readonly status: 'ok' | 'failed'
  /** The status of a caller's answer; undefined when no upstream was asked. */
  readonly httpStatus?: number
  readonly error?: { readonly code: string; readonly message: string }
  readonly latencyMs: number
  readonly firstByteMs?: number
  readonly dialect: DialectId | null
  readonly usage?: Usage
}

/** A silent target fails after this time, whatever the gate's own timeout is. */
const MAX_TEST_MS = 30_000

const MAX_MESSAGE_LENGTH = 500

/** @returns one row per target, in the gate's order; a failing target is a row, not an error */
export async function testGate(
  ports: PipelinePorts,
  caller: Caller,
  gate: Gate,
): Promise<readonly TargetTest[]> {
  const rows: TargetTest[] = []
  const waiting = [...gate.targets.entries()]
  const runInTurn = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, { model }] = next
      rows[index] = await testTarget(ports, caller, { ...gate, targets: [{ model }] }, model)
    }
  }
  // The limits of the key and its account apply here too, so they bound the concurrent calls.
  const { concurrentCalls, account } = caller.limits
  const most = Math.min(concurrentCalls, account?.concurrentCalls ?? Number.POSITIVE_INFINITY)
  const lanes = Math.max(1, Math.min(gate.targets.length, most))
  await Promise.all(Array.from({ length: lanes }, runInTurn))
  return rows
}

async function testTarget(
  ports: PipelinePorts,
  caller: Caller,
  gate: Gate,
  target: string,
): Promise<TargetTest> {
  const upstream = findUpstream(ports, caller.accountId, target)
  const question =
    upstream === undefined ? undefined : chooseQuestion(upstream.provider, upstream.model)
  if (upstream === undefined || question === undefined) {
    const message =
      upstream === undefined
        ? describeUnreachable(target)
        : `${upstream.provider.name} supports no format that a test can use.`
    return {
      target,
      status: 'failed',
      error: { code: 'not_testable', message },
      latencyMs: 0,
      dialect: null,
    }
  }
  const startedAt = ports.clock.elapsed()
  const { response, record } = await ask(ports, caller, toTested(gate), question)
  const message = response.ok ? await drain(response) : await readMessage(response)
  const isOk = response.ok && record()?.outcome === 'succeeded'
  return {
    target,
    status: isOk ? 'ok' : 'failed',
    latencyMs: Math.round(ports.clock.elapsed() - startedAt),
    dialect: question.dialect.id,
    ...toFigures(record()),
    ...(isOk
      ? {}
      : {
          error: {
            code: codeOf(record(), response),
            message: message.slice(0, MAX_MESSAGE_LENGTH),
          },
        }),
  }
}

/** The gate's defaults apply, except that the test sets a small output limit. */
function toTested(gate: Gate): Gate {
  const timeoutMs = Math.min(gate.timeoutMs ?? MAX_TEST_MS, MAX_TEST_MS)
  return {
    ...gate,
    strategy: 'fallback',
    hedgeAfterMs: null,
    maxRetries: 0,
    timeoutMs,
    overrides: 'allow',
  }
}

async function ask(ports: PipelinePorts, caller: Caller, gate: Gate, { dialect, body }: Question) {
  let record: CallRecord | undefined
  const serveCall = createPipeline({
    ...ports,
    gates: { findNamed: () => gate, findCatchAll: () => undefined, list: () => [gate] },
    ledger: {
      assertWritable: () => ports.ledger.assertWritable(),
      record(call) {
        record = call
        return ports.ledger.record(call)
      },
    },
  })
  const request = new Request('http://gatehouse/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: gate.id, ...body }),
  })
  const response = toResponse(await serveCall(request, dialect, { caller }))
  return { response, record: () => record }
}

async function drain(response: Response): Promise<string> {
  try {
    for await (const _chunk of response.body ?? []);
    return ''
  } catch {
    return 'The answer ended before it was complete.'
  }
}

async function readMessage(response: Response): Promise<string> {
  const { message } = readUpstreamError(await response.bytes())
  return message ?? `The target answered HTTP ${response.status}.`
}

function toFigures(record: CallRecord | undefined): Partial<TargetTest> {
  if (record === undefined) return {}
  const { attempts, status, firstByteMs, usage } = record
  return {
    ...(attempts === 0 ? {} : { httpStatus: status }),
    ...(firstByteMs === null ? {} : { firstByteMs: Math.round(firstByteMs) }),
    ...(usage === null ? {} : { usage }),
  }
}

/** A call that was not admitted or not recorded has no `errorKind`. */
function codeOf(record: CallRecord | undefined, { status, headers }: Response): string {
  // Among refusals without a record, only a used-up budget makes a retry useless.
  const isUsedUp = status === 429 && headers.get('x-should-retry') === 'false'
  const ownFailure = isUsedUp ? 'quota_exceeded' : OWN_FAILURES[status]
  return ERROR_POLICY[record?.errorKind ?? ownFailure ?? 'upstream_error'].flat
}

const OWN_FAILURES: Readonly<Record<number, ErrorKind>> = {
  429: 'rate_limited',
  500: 'internal_error',
  503: 'unavailable',
}
