/**
 * Finds out whether an owned model answers, how its server expects the credential, and what else
 * the server supports. Asks for one token, because a list of models often needs no key. The
 * server's words only distinguish cases and are never repeated, because a customer may name any
 * server.
 */
import type { Timekeeper } from '../../core/clock.ts'
import type { OwnedModel, OwnedModelProbe, ServerTraits } from '../../core/owned-model.ts'
import type { AddressGuard } from '../../net/address-guard.ts'
import type { Upstream } from '../../net/exchange.ts'
import { UpstreamFailure, type UpstreamFailureType } from '../../net/upstream-failure.ts'
import type { OwnedUpstream } from '../ports.ts'
import {
  type CredentialPlace,
  exchangeForProbe,
  type ProbeAnswer,
  UnlocatedError,
} from './probe-exchange.ts'
import { probeFim } from './probe-fim.ts'
import {
  FURTHER_QUESTIONS,
  judgeFurther,
  MAIN_QUESTIONS,
  type ProbeQuestion,
} from './probe-questions.ts'
import { judgeAnswer, type Verdict } from './probe-verdict.ts'

const AGAIN_AFTER_MS = 1_000

export interface ProbePorts {
  readonly clock: Pick<Timekeeper, 'elapsed' | 'after'>
  readonly addresses: Pick<AddressGuard, 'resolve'>
  readonly upstream: Upstream
}

export interface ProbeOptions {
  /** Time limit for the whole probe, in milliseconds. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Called with the result so far while the server may still become ready. */
  readonly onInterim?: (result: ProbeResult) => void
}

export type ProbeResult = Omit<OwnedModelProbe, 'checkedAt'>

/**
 * Never rejects: an unreachable server is a result too.
 * @returns undefined when the probe was cancelled or the gateway stops
 */
export async function probeOwnedModel(
  ports: ProbePorts,
  model: OwnedModel,
  owned: OwnedUpstream,
  { timeoutMs, signal, onInterim }: ProbeOptions,
): Promise<ProbeResult | undefined> {
  const { clock } = ports
  const startedAt = clock.elapsed()
  const endsAt = startedAt + timeoutMs
  const toResult = (finding: Finding): ProbeResult => {
    const { isTemporary: _, ...said } = finding
    return { ...said, latencyMs: Math.round(clock.elapsed() - startedAt) }
  }
  for (;;) {
    const probing = { ports, model, owned, endsAt, signal }
    const finding = await askOnce(probing).then((found) => explainRefusal(found, owned), toFinding)
    if (signal.aborted || finding === undefined) return undefined
    if (finding.isTemporary !== true || clock.elapsed() + AGAIN_AFTER_MS >= endsAt)
      return toResult(finding)
    onInterim?.(toResult(finding))
    await pause(clock, AGAIN_AFTER_MS, signal)
  }
}

interface Probing {
  readonly ports: ProbePorts
  readonly model: OwnedModel
  readonly owned: OwnedUpstream
  /** On the clock's `elapsed` scale. */
  readonly endsAt: number
  readonly signal: AbortSignal
}

interface Finding extends Verdict {
  readonly found?: ServerTraits
}

const UNDECRYPTABLE = 'The credential of the model cannot be decrypted.'

async function askOnce(probing: Probing): Promise<Finding> {
  const { model, owned } = probing
  if (owned.credential === undefined) return unreachable(UNDECRYPTABLE)
  const places = placesToTry(model, owned)
  const [usual = 'authorization'] = places
  const question = MAIN_QUESTIONS[model.dialect]
  if (question === undefined)
    return await probeFim(model, owned, (request) =>
      ask(
        { ...probing, owned: request.owned },
        { path: request.path, body: () => request.body },
        usual,
      ),
    )
  let finding: Finding = unreachable(UNDECRYPTABLE)
  for (const [index, place] of places.entries()) {
    const verdict = judgeAnswer(question.dialect, await ask(probing, question, place))
    const isRefused = verdict.httpStatus === 401 || verdict.httpStatus === 403
    // The server accepted one header and refused the other, so the header is known even if later
    // requests fail.
    const isHeaderKnown =
      places.length > 1 && !isRefused && (index > 0 || verdict.status === 'reachable')
    finding = isHeaderKnown ? { ...verdict, found: { credentialHeader: place } } : verdict
    if (verdict.status === 'reachable') return withFound(finding, await askFurther(probing, place))
    if (!isRefused) break
  }
  return finding
}

/** The server had no credential to refuse, so the message asks for a credential. */
function explainRefusal(finding: Finding, { credential }: OwnedUpstream): Finding {
  const isRefused = finding.httpStatus === 401 || finding.httpStatus === 403
  if (!isRefused || credential?.secret !== undefined) return finding
  return {
    ...finding,
    detail: 'The server requires a credential, and the model has none. Set a credential.',
  }
}

function withFound(finding: Finding, learnt: ServerTraits): Finding {
  const found = { ...finding.found, ...learnt }
  return Object.keys(found).length === 0 ? finding : { ...finding, found }
}

/**
 * Servers that copied the Messages API may accept only a bearer token, as vLLM does. The headers
 * are tried one at a time, because Anthropic refuses both headers together.
 */
function placesToTry(
  { dialect, credentialHeader }: Probing['model'],
  { provider, credential }: OwnedUpstream,
): readonly CredentialPlace[] {
  if (credentialHeader !== 'auto') return [credentialHeader]
  const usual = provider.keyHeader === undefined ? 'authorization' : 'x-api-key'
  if (dialect !== 'anthropic-messages' || credential?.secret === undefined) return [usual]
  return [usual, usual === 'authorization' ? 'x-api-key' : 'authorization']
}

async function askFurther(probing: Probing, place: CredentialPlace): Promise<ServerTraits> {
  const learnt: Record<string, boolean> = {}
  for (const question of FURTHER_QUESTIONS[probing.model.dialect] ?? []) {
    const has = await ask(probing, question, place).then(
      (answer) => judgeFurther(question.dialect, answer),
      // Without an answer in time the trait stays unknown.
      () => undefined,
    )
    if (has !== undefined) learnt[question.trait] = has
  }
  return learnt
}

async function ask(
  { ports, owned, endsAt, signal }: Probing,
  question: Pick<ProbeQuestion, 'path' | 'body'>,
  place: CredentialPlace,
): Promise<ProbeAnswer> {
  return await exchangeForProbe(ports, owned, {
    path: question.path,
    body: question.body(owned.model),
    place,
    endsAt,
    signal,
  })
}

const TIMED_OUT = 'The server did not answer in time.'
const DETAILS: Partial<Record<UpstreamFailureType, string>> = {
  connect_timeout: TIMED_OUT,
  first_byte_timeout: TIMED_OUT,
  idle_timeout: TIMED_OUT,
  total_timeout: TIMED_OUT,
}

function toFinding(thrown: unknown): Finding | undefined {
  if (thrown instanceof UnlocatedError) return unreachable(thrown.message)
  if (!(thrown instanceof UpstreamFailure)) return unreachable('The server could not be reached.')
  if (thrown.type === 'shutdown') return undefined
  const finding = unreachable(DETAILS[thrown.type] ?? thrown.message)
  // Some servers accept no connection before their model is loaded, so a failed connection may be
  // temporary.
  return thrown.type === 'connect_failed' ? { ...finding, isTemporary: true } : finding
}

function unreachable(detail: string): Finding {
  return { status: 'unreachable', detail }
}

async function pause(clock: ProbePorts['clock'], ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      callOff()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const callOff = clock.after(ms, end)
    signal.addEventListener('abort', end, { once: true })
  })
}
