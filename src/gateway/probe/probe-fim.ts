/** Finds out how an owned model's server fills in the middle: asks for one token in each form. */
import type { DialectId } from '../../core/dialects.ts'
import {
  FIM_ENDPOINTS,
  type FimEndpoint,
  type OwnedModel,
  type ServerTraits,
} from '../../core/owned-model.ts'
import type { JsonRecord } from '../../wire/chat-request.ts'
import { UnreadableAnswerError } from '../../wire/codec.ts'
import type { RelayedDialect } from '../../wire/dialect.ts'
import { upstreamCodecOf } from '../../wire/dialects.ts'
import { mistralFim } from '../../wire/mistral-fim/index.ts'
import { traitsOf } from '../plan/compile-target.ts'
import { toOwnedUpstream } from '../plan/owned-upstream.ts'
import type { OwnedUpstream } from '../ports.ts'
import type { ProbeAnswer } from './probe-exchange.ts'
import { judgeAnswer, NOTHING_HERE, type Verdict } from './probe-verdict.ts'

export interface FimQuestion {
  /** The owned model as if its server had this form. */
  readonly owned: OwnedUpstream
  readonly path: string
  readonly body: object
}

type Ask = (question: FimQuestion) => Promise<ProbeAnswer>

export interface FimFinding extends Verdict {
  readonly found?: Pick<ServerTraits, 'fimEndpoint'>
}

const SMALLEST = { prompt: 'a', suffix: 'b' }

/** Tokens. A server that ignores the suffix reports fewer input tokens than this number. */
const SUFFIX_TOKENS = 40
const SUFFIX = Array.from({ length: SUFFIX_TOKENS }, (_, index) => `x${index}`).join(' ')

/** Some servers do not count cached prompt tokens, so each prompt begins differently. */
function createUncachedGap() {
  return { prompt: `# ${crypto.randomUUID()}\n`, suffix: SUFFIX }
}

const NONE_HERE =
  'The server supports none of /fim/completions, /infill and /completions for filling in the middle. Check baseUrl and upstreamModelId.'

export async function probeFim(
  model: OwnedModel,
  { credential }: Pick<OwnedUpstream, 'credential'>,
  ask: Ask,
): Promise<FimFinding> {
  const isSet = model.fimEndpoint !== 'auto'
  let informative: Verdict | undefined
  let last: Verdict = { status: 'unreachable', detail: NONE_HERE }
  for (const endpoint of FIM_ENDPOINTS) {
    if (isSet && endpoint !== model.fimEndpoint) continue
    const owned = toOwnedUpstream({ ...model, fimEndpoint: endpoint }, credential)
    const form = formOf(owned, endpoint)
    if (form === undefined) continue
    const answer = await ask({ owned, path: form.path, body: form.body })
    const verdict = judgeAnswer(form, answer)
    if (verdict.status === 'reachable' && isAnswered(verdict) && form.isRead(answer))
      return isSet ? verdict : { ...verdict, found: { fimEndpoint: endpoint } }
    // A refused credential or a server that is not ready fails in the other forms too.
    if (isSet || isFinal(verdict)) return verdict
    if (verdict.status === 'unreachable' && !isAbsent(verdict)) informative ??= verdict
    last = { ...verdict, status: 'unreachable', detail: NONE_HERE }
  }
  return informative ?? last
}

interface Form extends Pick<RelayedDialect, 'isAnswer'> {
  readonly path: string
  readonly body: object
  isRead(answer: ProbeAnswer): boolean
}

function formOf(owned: OwnedUpstream, endpoint: FimEndpoint): Form | undefined {
  const [[id, place] = []] = Object.entries(owned.provider.endpoints)
  if (id === undefined || place === undefined) return undefined
  const { path } = place
  if (id === mistralFim.id) {
    if (endpoint !== 'fim-completions') return undefined
    const body = { model: owned.model, ...SMALLEST, max_tokens: 1 }
    return { path, body, isAnswer: mistralFim.isAnswer, isRead: () => true }
  }
  const codec = upstreamCodecOf(id as DialectId)
  if (codec?.form !== 'fim') return undefined
  const gap = endpoint === 'completions-suffix' ? createUncachedGap() : SMALLEST
  const { body } = codec.encodeRequest(
    { ...gap, stream: false, stop: [], maxTokens: 1, unplaced: [] },
    { model: owned.model, traits: traitsOf(owned.provider, owned.model) },
  )
  const read = (answer: JsonRecord) => {
    try {
      return codec.decodeAnswer(answer)
    } catch (thrown) {
      if (thrown instanceof UnreadableAnswerError) return undefined
      throw thrown
    }
  }
  return {
    path,
    body,
    isAnswer: (answer) => read(answer as JsonRecord) !== undefined,
    isRead: (answer) =>
      endpoint !== 'completions-suffix' ||
      (read(JSON.parse(String(Buffer.from(answer.body ?? []))))?.usage?.inputTokens ?? 0) >=
        SUFFIX_TOKENS,
  }
}

function isAnswered({ httpStatus = 0 }: Verdict): boolean {
  return httpStatus >= 200 && httpStatus < 300
}

/** The credential is refused, a limit is used up, or the model is being loaded. */
function isFinal({ httpStatus, isTemporary }: Verdict): boolean {
  return isTemporary === true || httpStatus === 401 || httpStatus === 403 || httpStatus === 429
}

/**
 * Typical answers of servers at unknown paths. llama.cpp answers 501 when the model lacks support.
 */
function isAbsent({ httpStatus, detail }: Verdict): boolean {
  return detail === NOTHING_HERE || httpStatus === 405 || httpStatus === 501
}
