/**
 * Mutants that no test can or should kill, each with its reason. They are tried all the same: one
 * that is killed, or that the code no longer has, is reported so that its entry goes.
 */
import type { OperatorName } from './operators.ts'

export interface ListedSurvivor {
  readonly path: string
  /** The line it begins in, without its indentation: numbers change with every edit. */
  readonly lineText: string
  readonly operator: OperatorName
  /** Where one line has several of the operator: what the report shows after the arrow. */
  readonly mutated?: string
  readonly reason: string
}

export const survivors: readonly ListedSurvivor[] = [
  {
    path: 'src/limits/usage-lease.ts',
    lineText: '#nodes = 1',
    operator: 'number',
    mutated: '0',
    reason: 'a store never speaks of fewer nodes than one, and the greater of the two counts',
  },
  {
    path: 'src/limits/usage-lease.ts',
    lineText: '#takenSinceAsked = { tokens: 0, nanoUsd: 0 }',
    operator: 'number',
    reason: 'the first question asks for nothing in advance, whatever was taken before it',
  },
  {
    path: 'src/limits/usage-lease.ts',
    lineText: 'this.#needs.push(needed)',
    operator: 'method',
    reason: 'they are added up',
  },
  {
    path: 'src/limits/usage-lease.ts',
    lineText: 'nowMs > this.window.endsAtMs &&',
    operator: 'comparison',
    mutated: 'nowMs >= this.window.endsAtMs',
    reason: 'at its last moment a period has no calls any more',
  },
  {
    path: 'src/limits/usage-counter.ts',
    lineText:
      'if (window !== undefined && momentMs < window.endsAtMs && momentMs >= window.startsAtMs)',
    operator: 'comparison',
    mutated: 'momentMs > window.startsAtMs',
    reason: 'it is the short way to the same window',
  },
  {
    path: 'src/limits/usage-counter.ts',
    lineText: 'return window',
    operator: 'if body removed',
    mutated:
      'if (window !== undefined && momentMs < window.endsAtMs && momentMs >= window.startsAtMs) {}',
    reason: 'it is the short way to the same window',
  },
  {
    path: 'src/limits/usage-counter.ts',
    lineText: 'const isOfOrigin = periodStartsAtMs < this.#originMs && this.#originMs < endsAtMs',
    operator: 'comparison',
    mutated: 'periodStartsAtMs <= this.#originMs',
    reason: 'both begin at the same moment then',
  },
  {
    path: 'src/gateway/relay/relay-late.ts',
    lineText: 'await endRefused(ports, call, {',
    operator: 'await removed',
    reason:
      'a stream that was asked for begins with events or is refused: the types do not know that',
  },
  {
    path: 'src/limits/key-script.ts',
    lineText: 'return Number.isFinite(limit) ? limit : -1',
    operator: 'number',
    mutated: '2',
    reason: 'the script takes every number below nought for no limit',
  },
  {
    path: 'src/limits/token-bucket.ts',
    lineText: 'if (elapsedMs > 0 || elapsedMs < -OVERTAKEN_MS) this.#asOfMs = wholeMs',
    operator: 'comparison',
    mutated: 'elapsedMs <= -OVERTAKEN_MS',
    reason: 'a clock that was set back by that very time may be taken for either',
  },
  {
    path: 'src/snapshots/key-snapshot.ts',
    lineText: 'if (entries === undefined || place < 0) return',
    operator: 'if body removed',
    reason: 'every entry is listed under its account: the types do not know that',
  },
  {
    path: 'src/limits/usage-counter.ts',
    lineText: 'constructor(period: Period, originMs = 0) {',
    operator: 'number',
    reason: 'no call began in the first millisecond of 1970',
  },
  {
    path: 'src/snapshots/snapshot.ts',
    lineText:
      'return rows.sort((a, b) => b.createdAt - a.createdAt || (idOf(a) < idOf(b) ? 1 : -1))',
    operator: 'number',
    mutated: '2',
    reason: 'only the sign counts',
  },
  {
    path: 'src/snapshots/snapshot.ts',
    lineText:
      'return rows.sort((a, b) => b.createdAt - a.createdAt || (idOf(a) < idOf(b) ? 1 : -1))',
    operator: 'comparison',
    mutated: 'idOf(a) <= idOf(b)',
    reason: 'no two have the same name',
  },
  {
    path: 'src/gateway/plan/plan-targets.ts',
    lineText:
      "gate.defaults !== null || (gate.overrides !== 'ignore' && request.ignored.includes('model'))",
    operator: 'logic',
    mutated: "gate.overrides !== 'ignore' || request.ignored.includes('model')",
    reason: 'where there is nothing to decide the request comes back as it is',
  },
  {
    path: 'src/gateway/plan/order-targets.ts',
    lineText: 'rotation.calls += 1',
    operator: 'arithmetic',
    reason: 'counted down, every twentieth call is the twentieth too',
  },
  {
    path: 'src/gateway/plan/plan-targets.ts',
    lineText: 'const kind = (question.stream ? 1 : 0) + (question.relays ? 2 : 0)',
    operator: 'number',
    mutated: '3',
    reason: 'four numbers that differ, whichever',
  },
  {
    path: 'src/gateway/plan/plan-targets.ts',
    lineText:
      'if (owned !== undefined) return ownedModels.find(caller.accountId, owned.slug) === owned',
    operator: 'if body removed',
    reason: 'an owned model is no provider of the operator, so it is only planned anew, each time',
  },
  {
    path: 'src/gateway/attempt/sent-secrets.ts',
    lineText: 'if (shown.length === 0) return body',
    operator: 'if body removed',
    reason: 'only a body that is valid UTF-8 is passed on, and that comes out as it went in',
  },
  {
    path: 'src/gateway/relay/relay-answer.ts',
    lineText: 'await giveUp(ports, relayed)',
    operator: 'await removed',
    reason: 'each end of an answer has waited for its settling before, or waits in `return`',
  },
  {
    path: 'src/gateway/probe/test-gate.ts',
    lineText: "return ERROR_POLICY[record?.errorKind ?? ownFailure ?? 'upstream_error'].flat",
    operator: 'empty string',
    reason: 'a call that fails without a kind has one of the three statuses before it',
  },
  {
    path: 'src/gateway/probe/test-gate.ts',
    lineText: 'if (record === undefined) return {}',
    operator: 'return undefined',
    reason: 'what is spread of nothing is nothing',
  },
  {
    path: 'src/gateway/probe/test-gate.ts',
    lineText: "method: 'POST',",
    operator: 'empty string',
    reason: 'the pipeline is behind the doors, which alone look at the method',
  },
  {
    path: 'src/gateway/probe/test-gate.ts',
    lineText: "return ''",
    operator: 'return undefined',
    reason: 'of a target that answers there is no message to tell',
  },
  {
    path: 'src/limits/usage-script.ts',
    lineText:
      'const [otherTokens = 0, otherNanoUsd = 0, allowedTokens = 0, allowedNanoUsd = 0] = pairs',
    operator: 'number',
    reason: 'an answer with fewer numbers is refused before; the defaults are for the compiler',
  },
  {
    path: 'src/limits/leased-bucket.ts',
    lineText: 'this.view.refill(nodes === 1 ? perMinute : shareOf(perMinute, nodes), nowMs)',
    operator: 'number',
    mutated: '0',
    reason: 'limits are whole numbers, and of one node the share is all of it',
  },
  {
    path: 'src/cluster/snapshot-freshness.ts',
    lineText:
      "if (answer.type === 'refused') throw new Error('nobody vouches for what this node holds')",
    operator: 'if body removed',
    reason: 'an answer without changes cannot be gone through: it throws a line later',
  },
  {
    path: 'src/snapshots/provider-key-registry.ts',
    lineText: 'entry.shutUntil = 0',
    operator: 'number',
    reason: 'both moments were long ago',
  },
  {
    path: 'src/ledger/journal-lines.ts',
    lineText: 'if (needed > this.#buffer.length) this.#grow(needed)',
    operator: 'comparison',
    reason: 'a buffer that is full to its last byte is made larger a line too early',
  },
  {
    path: 'src/ledger/journal-lines.ts',
    lineText: 'const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))',
    operator: 'arithmetic',
    reason: 'it grows to what is needed all the same, though more often',
  },
  {
    path: 'src/ledger/journal-lines.ts',
    lineText:
      'if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)',
    operator: 'comparison',
    reason: 'a buffer of exactly that size may be kept or let go',
  },
  {
    path: 'src/ledger/segment-reader.ts',
    lineText: 'for (let begin = 0; begin < bytesRead; begin += PART_BYTES) {',
    operator: 'comparison',
    reason: 'a part without bytes holds no lines',
  },
  {
    path: 'src/ledger/closed-segments.ts',
    lineText: 'let next = 1',
    operator: 'number',
    reason: 'any number will do for the first segment of an empty folder',
  },
  {
    path: 'src/ledger/closed-segments.ts',
    lineText: 'next = sequence + 1',
    operator: 'number',
    mutated: '2',
    reason: 'names of segments only have to grow',
  },
  ...[
    "add(parts, 'cachedInput', cached, cacheRead ?? 0)",
    "add(parts, 'cacheWrite', written, cacheWrite ?? 0)",
    "add(parts, 'reasoning', reasoning, ownReasoning ?? 0)",
  ].map(
    (lineText): ListedSurvivor => ({
      ...{ path: 'src/ledger/cost-parts.ts', lineText, operator: 'number' },
      reason: 'without a price of their own no tokens are counted as such',
    }),
  ),
  ...['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'].map(
    (tokens): ListedSurvivor => ({
      path: 'src/ledger/price-book.ts',
      lineText: `${tokens}: 0,`,
      operator: 'number',
      reason: 'it is only asked whether there is a price, which no count decides',
    }),
  ),
  {
    path: 'src/ledger/shipper.ts',
    lineText: 'const isHurried = this.#journal.closed.bytes > UNHURRIED_BYTES',
    operator: 'comparison',
    mutated: 'this.#journal.closed.bytes >= UNHURRIED_BYTES',
    reason: 'nobody waits for a byte more or less',
  },
  {
    path: 'src/ledger/retention.ts',
    lineText: 'const PAUSE_MS = 10',
    operator: 'number',
    reason: 'how long others get their turn is no promise',
  },
  {
    path: 'src/ledger/retention.ts',
    lineText: 'await Bun.sleep(pauseMs ?? PAUSE_MS)',
    operator: 'fallback only',
    reason: 'how long others get their turn is no promise',
  },
  {
    path: 'src/ledger/segment-reader.ts',
    lineText: 'const PART_BYTES = 16 * 1024',
    operator: 'number',
    mutated: '17',
    reason: 'a line is whole wherever a part ends; its size only says how long others wait',
  },
  {
    path: 'src/wire/gatehouse-chat/decode-messages.ts',
    lineText: 'if (!/^https?:\\/\\//i.test(address.slice(0, 8)))',
    operator: 'number',
    mutated: '9',
    reason:
      'the expression reads no more than eight characters; the cut only spares it a long address',
  },
  {
    path: 'src/wire/mistral-chat/mistral-shaped.ts',
    lineText: "if (isLeftOut || isNoFlag) edits.push({ type: 'remove', member })",
    operator: 'method',
    reason: 'edits apply by where they stand in the body, in whatever order they are given',
  },
  {
    path: 'src/wire/sse.ts',
    lineText: 'const AFTER_BLANK_LINE_CR = 3',
    operator: 'number',
    mutated: '4',
    reason: 'a name of a state: any number does that no other state has',
  },
  {
    path: 'src/cluster/snapshot-freshness.ts',
    lineText: 'clearTimeout(this.#timer)',
    operator: 'call removed',
    reason:
      'spares one question where a renewal lasts until the next is due; each ends the timer again',
  },
  {
    path: 'src/ledger/segment-sums.ts',
    lineText: 'await file.close()',
    operator: 'await removed',
    reason: 'a file that was only read is closed a moment later',
  },
  {
    path: 'src/gateway/attempt/refused-answer.ts',
    lineText: 'if (answer.status >= 300 && answer.status < 400) {',
    operator: 'number',
    mutated: '0',
    reason: 'an answer below 300 is none of a refusal, but for a 1xx, which the parser has skipped',
  },
  {
    path: 'src/cluster/redis-client.ts',
    lineText: 'maxRedirections: 4,',
    operator: 'number',
    reason: 'a bound for clusters that send in circles: one more or less is no behaviour',
  },
  {
    path: 'src/cluster/redis-client.ts',
    lineText: 'noDelay: true,',
    operator: 'boolean',
    reason: 'answers come later by what the system waits for more to send, which no test may time',
  },
  {
    path: 'src/gateway/admit.ts',
    lineText:
      "return countsForQuota(name, owner === 'account' ? 'own' : 'platform') ? plan : undefined",
    operator: 'empty string',
    reason: 'whatever is not `own` counts for the quota',
  },
  {
    path: 'src/gateway/estimate-tokens.ts',
    lineText: 'const quote = bytes.indexOf(QUOTE, start + 1)',
    operator: 'number',
    mutated: '2',
    reason: 'a long run begins at a quote and has none for hundreds of bytes',
  },
  {
    path: 'src/gateway/plan/plan-targets.ts',
    lineText:
      'return findTranslated(provider, target.model.slice(provider.id.length + 1), dialect) !== undefined',
    operator: 'arithmetic',
    reason:
      'the model decides only where it is asked of Azure, whose other interface takes every model',
  },
  {
    path: 'src/wire/json-scan.ts',
    lineText: 'if (text.length <= HARMLESS_LEVELS || !hasManyBrackets(text)) return false',
    operator: 'comparison',
    reason: 'a text of just so many characters cannot have so many brackets and be JSON',
  },
  {
    path: 'src/limits/shared-limits.ts',
    lineText: 'account?.giveBack(0)',
    operator: 'number',
    mutated: '1',
    reason: 'an account has no limit of tokens: only its place is given back',
  },
  {
    path: 'src/limits/token-bucket.ts',
    lineText: 'if (elapsedMs > 0 || elapsedMs < -OVERTAKEN_MS) this.#asOfMs = wholeMs',
    operator: 'comparison',
    reason:
      'which of two milliseconds is the first that counts as a clock set back is no behaviour',
  },
  {
    path: 'src/snapshots/plain-registry.ts',
    lineText: `if (store === undefined) throw new Error(\`there is no store of \${word}\`)`,
    operator: 'if body removed',
    reason: 'cannot be reached: the stores come from the same list',
  },
  {
    path: 'src/cluster/fallback-feed.ts',
    lineText: 'for (let index = 0; index + 1 < parts.length; index += 2)',
    operator: 'comparison',
    reason: 'the script answers with pairs: the parts are even in number',
  },
  {
    path: 'src/cluster/redis-installation.ts',
    lineText: "let cursor = '0'",
    operator: 'empty string',
    reason: 'the server reads an empty cursor as 0',
  },
  {
    path: 'src/cluster/redis-store.ts',
    lineText: "name: 'beat',",
    operator: 'empty string',
    reason: 'the name of a script is for whoever reads of its failure',
  },
  {
    path: 'src/cluster/redis-store.ts',
    lineText: "this.#client.on('ready', () => this.#beatIn(Math.random() * 50))",
    operator: 'number',
    mutated: '51',
    reason: 'any moment of the first ones is as good',
  },
  {
    path: 'src/cluster/redis-store.ts',
    lineText: "readonly nodeId = randomBytes(6).toString('hex')",
    operator: 'number',
    reason: 'ten digits are an id of its own too',
  },
  {
    path: 'src/cluster/redis-store.ts',
    lineText: 'const LONGEST_ID = 64',
    operator: 'number',
    reason: 'how much of a strange text a message quotes',
  },
  {
    path: 'src/cluster/redis-client.ts',
    lineText: 'retryDelayOnFailover: 50,',
    operator: 'number',
    reason: 'a pause that is a millisecond shorter or longer',
  },
  {
    path: 'src/limits/shared-usage.ts',
    lineText: 'const MAX_ROUNDS = 30',
    operator: 'number',
    reason: 'one question more or less before it is given up',
  },
  {
    path: 'src/ledger/journal-lines.ts',
    lineText: 'const INITIAL_BYTES = 64 * 1024',
    operator: 'number',
    reason: 'a buffer without room grows at its first line',
  },
  {
    path: 'src/gateway/attempt/begin-answer.ts',
    lineText:
      "if (held === '' && areComments(now) && shown.length <= MAX_COMMENT_BYTES) comments = shown",
    operator: 'comparison',
    mutated: 'shown.length < MAX_COMMENT_BYTES',
    reason: 'comments of exactly that many bytes may be kept back or sent',
  },
]
