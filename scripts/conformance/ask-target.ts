/** Translates a request as the gateway does before its first byte is sent, without network. */
import { systemClock } from '../../src/core/clock.ts'
import { type Gate, USUAL_GATE } from '../../src/core/gate.ts'
import type { AccountId, GateId, KeyId } from '../../src/core/ids.ts'
import { Secret } from '../../src/core/secret.ts'
import { CallHeaders } from '../../src/gateway/attempt/call-headers.ts'
import { CircuitBreakers } from '../../src/gateway/attempt/circuit-breakers.ts'
import type { Target } from '../../src/gateway/plan/compile-target.ts'
import { TargetOrder } from '../../src/gateway/plan/order-targets.ts'
import { planTargets } from '../../src/gateway/plan/plan-targets.ts'
import { CallerRequest, translate } from '../../src/gateway/translate/translate.ts'
import type { Provider } from '../../src/providers/define.ts'
import type { JsonRecord } from '../../src/wire/chat-request.ts'
import { type AnswerFacts, DECODE_LIMITS } from '../../src/wire/codec.ts'
import type { AcceptedRequest, Dialect, RelayRequest, StreamTap } from '../../src/wire/dialect.ts'
import { scanJsonObject } from '../../src/wire/json-splice.ts'

export interface Pair {
  readonly dialect: Dialect
  readonly provider: Provider
  readonly model: string
}

export interface AskedTarget {
  readonly target: Target
  readonly sent: string
  /** Omitted members, as the caller spells them. */
  readonly ignored: readonly string[]
  createTap(): StreamTap
  /** A whole answer as the caller gets it. */
  convert(answer: JsonRecord): JsonRecord
}

const GATE_ID = 'probe-gate'
const caller = {
  accountId: 'acc_probe' as AccountId,
  keyId: 'key_probe' as KeyId,
  limits: { tokensPerMinute: 1, requestsPerMinute: 1, concurrentCalls: 1 },
}
const callHeaders = new CallHeaders()
const order = new TargetOrder(new CircuitBreakers(systemClock))

/** @throws GatewayError when the request is refused */
export function askTarget({ dialect, provider, model }: Pair, body: JsonRecord): AskedTarget {
  const bytes = Buffer.from(JSON.stringify({ gate_id: GATE_ID, ...body }))
  const accepted = dialect.accept(scanJsonObject(bytes))
  const gate = toGate(`${provider.id}/${model}`)
  const reachable = { ...provider, baseUrl: provider.baseUrl ?? 'https://example.com' }
  const ports = {
    gates: { list: () => [gate] },
    credentials: {
      find: () => ({ secret: new Secret('probe-key'), owner: 'platform' as const }),
      touch: () => {},
    },
    providers: new Map([[provider.id, reachable]]),
    ownedModels: { find: () => undefined },
    callHeaders,
    order,
  }
  const [target] = planTargets(ports, { caller, accepted, gate, dialect }).targets
  if (target === undefined) throw new Error(`${provider.id} was planned without a target`)
  const { translator, sealOrigin } = target
  if (translator?.form !== 'chat') {
    if (!relays(dialect)) throw new Error('a target was planned to be relayed to that cannot be')
    const { body: sent, hidesUsage } = dialect.rewrite(accepted, target)
    return {
      target,
      sent: Buffer.from(sent.toBytes()).toString(),
      ignored: accepted.ignored,
      createTap: () => dialect.createTap({ hidesUsage }),
      convert: (answer) => answer,
    }
  }
  const facts: AnswerFacts = {
    callId: 'call_probe',
    gateId: GATE_ID,
    startedAtMs: 0,
    target: target.name,
    sealOrigin,
  }
  const { inbound, upstream } = translator
  const callerRequest = new CallerRequest(inbound, accepted, {
    maxBodyBytes: DECODE_LIMITS.maxTextBytes,
    headers: new Headers(),
  })
  const translated = translate({
    caller: callerRequest,
    target,
    client: upstream,
    facts,
    isStrict: false,
  })
  return {
    target,
    sent: Buffer.from(translated.body).toString(),
    ignored: [...accepted.ignored, ...translated.ignored],
    createTap: () => translated.createTap(),
    convert: (answer) => inbound.encodeAnswer(upstream.decodeAnswer(answer), facts),
  }
}

type Relaying = Pick<Dialect, 'accept' | 'inboundCodec'> & {
  rewrite(request: AcceptedRequest, target: Target): RelayRequest
  createTap(relay: { readonly hidesUsage: boolean }): StreamTap
}

function relays(dialect: object): dialect is Relaying {
  return 'rewrite' in dialect && 'createTap' in dialect
}

function toGate(model: string): Gate {
  return {
    accountId: caller.accountId,
    id: GATE_ID as GateId,
    displayName: GATE_ID,
    description: '',
    targets: [{ model }],
    ...USUAL_GATE,
    timeoutMs: null,
    maxRetries: 0,
    createdAt: 0,
    updatedAt: 0,
  }
}
