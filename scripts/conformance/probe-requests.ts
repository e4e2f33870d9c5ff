/** Tests whether a caller's request arrives at a target, by running the gateway's own code. */
import { GatewayError } from '../../src/core/errors.ts'
import type { JsonRecord } from '../../src/wire/chat-request.ts'
import type { CallerKit, Probe } from '../../test/support/callers/caller.ts'
import { CALLS } from '../../test/support/callers/materials.ts'
import { THOUGHT, type UpstreamKit } from '../../test/support/upstream-answers/answer-script.ts'
import { type AskedTarget, askTarget, type Pair } from './ask-target.ts'
import { ConformanceFault, type Verdict } from './verdict.ts'

export function probeRequest(pair: Pair, kit: CallerKit, probe: Probe): Verdict {
  return orRefusal(() => {
    const asked = askTarget(pair, { ...kit.plain, ...probe.ask })
    if (asked.target.translator === undefined)
      return judgeRelay(asked, { ...kit.plain, ...probe.ask })
    const plain = askTarget(pair, { ...kit.plain, ...probe.without })
    const fields = asked.ignored.filter((name) => !plain.ignored.includes(name))
    if (fields.length > 0) return { verdict: 'lossy', fields }
    const missing = (probe.carries ?? []).filter((text) => !asked.sent.includes(text))
    if (missing.length > 0)
      throw new ConformanceFault(`${missing.join(', ')} did not arrive, and is not named`)
    if (probe.isDefault !== true && asked.sent === plain.sent)
      throw new ConformanceFault('nothing was sent for it, and it is not named')
    if (probe.other !== undefined) {
      const other = askTarget(pair, { ...kit.plain, ...probe.other })
      if (other.sent === asked.sent)
        throw new ConformanceFault('another value was sent for it, and it is not named')
    }
    return { verdict: 'lossless' }
  })
}

/** An answer with encrypted reasoning and tool calls, followed by the client's next request. */
export function probeLoop(pair: Pair, kit: CallerKit, upstream: UpstreamKit): Verdict {
  return orRefusal(() => {
    const asked = askTarget(pair, kit.loop.ask)
    const { translator, traits } = asked.target
    const answer = upstream.whole({ reasoning: THOUGHT, calls: CALLS, finish: 'tool_calls' })
    if (answer === undefined) throw new ConformanceFault('there is no answer to continue')
    const next = askTarget(pair, kit.loop.next(asked.convert(answer)))
    if (translator === undefined) {
      if (next.target.translator !== undefined)
        throw new ConformanceFault('its own answer was not relayed back')
      return { verdict: 'relayed' }
    }
    const thinks = traits.reasoning !== undefined || traits.alwaysReasons === true
    if (upstream.kept === undefined || !thinks) return { verdict: 'absent' }
    if (next.sent.includes(upstream.kept)) return { verdict: 'lossless' }
    const fields = next.ignored.filter((name) => !asked.ignored.includes(name))
    if (fields.length === 0)
      throw new ConformanceFault('the reasoning did not come back, and is not named')
    return { verdict: 'lossy', fields }
  })
}

/** Whether everything was sent, except members that have to change. */
function judgeRelay({ sent, ignored }: AskedTarget, body: JsonRecord): Verdict {
  if (ignored.length > 0) return { verdict: 'lossy', fields: ignored }
  const received = JSON.parse(sent) as JsonRecord
  const lost = Object.keys(body).filter((name) => !Bun.deepEquals(body[name], received[name]))
  return lost.length === 0 ? { verdict: 'relayed' } : { verdict: 'lossy', fields: lost }
}

function orRefusal(judge: () => Verdict): Verdict {
  try {
    return judge()
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.kind !== 'invalid_request') throw thrown
    return { verdict: 'refused', message: thrown.message }
  }
}
