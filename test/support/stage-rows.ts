/**
 * A call through the data plane as one row of a table: what goes in, what both sides do, and all
 * that has to come of it. Beside what its row says, every call is held to what holds for all of
 * them.
 */
import { expect, test } from 'bun:test'
import type { CallRecord } from '../../src/core/call.ts'
import type { GatewayError } from '../../src/core/errors.ts'
import type { Spent } from '../../src/gateway/ports.ts'
import { CHAT_JSON, CHAT_STREAM } from './dialect-samples.ts'
import {
  CALLER,
  CALLER_KEY,
  type ClientRequest,
  type ClientScript,
  type GatewayScript,
  InProcessGateway,
  type Seen,
} from './in-process-gateway.ts'
import { json, type Script, type SentRequest, stream } from './scripted-upstream.ts'

/** A row in a test that has a name of its own. */
export interface UnnamedRow {
  /** What is unlike the usual gateway, which has one gate with one target. */
  readonly gateway?: Partial<GatewayScript>
  /** Absent: a small chat call through that gate. */
  readonly request?: Partial<ClientRequest>
  readonly upstream?: readonly Script[]
  readonly client?: ClientScript
  readonly seen: ExpectedAnswer
  /** Each request that was sent, in order; absent: none. */
  readonly sent?: readonly ExpectedRequest[]
  /** What the ledger has of it; null: it was turned away before it was admitted. */
  readonly settled: Partial<CallRecord> | null
  /** What its limits were told of it. */
  readonly spent?: Partial<Spent>
  /** Of what went wrong inside the gateway itself; absent: nothing did. */
  readonly failures?: readonly Partial<GatewayError>[]
  /** Milliseconds from the request to its end. */
  readonly tookMs?: number
  /** Whatever else has to be so. */
  readonly check?: (gateway: InProcessGateway, seen: Seen) => void
}

export interface StageRow extends UnnamedRow {
  readonly name: string
}

export interface ExpectedAnswer {
  readonly status: number
  /** Names in lower case; null: there is no such header. */
  readonly headers?: Readonly<Record<string, unknown>>
  /** To the byte. */
  readonly text?: string
  /** As far as it is said, of a body that is JSON. */
  readonly json?: object
  readonly contains?: readonly string[]
  readonly forbids?: readonly string[]
  /** Absent: `whole`. */
  readonly ending?: Seen['ending']
}

export interface ExpectedRequest extends Partial<Omit<SentRequest, 'headers' | 'body'>> {
  /** Names in lower case; null: there is no such header. */
  readonly headers?: Readonly<Record<string, unknown>>
  readonly body?: string
  /** As far as it is said. */
  readonly json?: object
}

export const CHAT = '/v1/chat/completions'
export const GATE = 'the-gate'
export const TARGET = 'openai/gpt-4o'

/** What `CHAT_ANSWER` reports. */
export const CHAT_USAGE = {
  inputTokens: 11,
  outputTokens: 7,
  cachedInputTokens: 3,
  reasoningTokens: 2,
}
const UNKNOWN_COST = { nanoUsd: null, status: 'unknown', source: null } as const

export const CHAT_ANSWER: Script = json(200, CHAT_JSON)
export const CHAT_EVENTS: Script = stream(CHAT_STREAM)

export function chatBody(members: object = {}): object {
  return { model: GATE, messages: [{ role: 'user', content: 'hi' }], ...members }
}

export function runRows(rows: readonly StageRow[]): void {
  for (const row of rows) test(row.name, () => runRow(row))
}

export async function runRow(row: UnnamedRow): Promise<void> {
  const gateway = new InProcessGateway({
    gates: { [GATE]: [TARGET] },
    ...row.gateway,
    upstream: row.upstream ?? [],
  })
  const seen = await gateway.ask({ path: CHAT, body: chatBody(), ...row.request }, row.client)
  const tookMs = gateway.clock.passedMs
  expectAnswer(seen, row.seen)
  expectRequests(gateway.upstream.sent, row.sent ?? [])
  expectSettled(gateway, seen, row)
  expect(gateway.failures).toMatchObject([...(row.failures ?? [])])
  if (row.tookMs !== undefined) expect(tookMs).toBe(row.tookMs)
  row.check?.(gateway, seen)
  expectNoSecrets(gateway, seen)
  await gateway.assertNothingIsLeft()
}

function expectAnswer(seen: Seen, expected: ExpectedAnswer): void {
  const {
    status,
    headers = {},
    text,
    json,
    contains = [],
    forbids = [],
    ending = 'whole',
  } = expected
  // With its text, so that a row that fails says why.
  expect({ status: seen.status, text: seen.text }).toEqual({ status, text: text ?? seen.text })
  expect(seen.ending).toBe(ending)
  expectHeaders(seen.headers, headers)
  if (json !== undefined) expect(JSON.parse(seen.text)).toMatchObject(json)
  for (const part of contains) expect(seen.text).toContain(part)
  for (const part of forbids) expect(seen.text).not.toContain(part)
  expect(seen.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/)
}

function expectRequests(sent: readonly SentRequest[], expected: readonly ExpectedRequest[]): void {
  expect(sent.map(({ url }) => url)).toEqual(
    sent.map(({ url }, index) => expected[index]?.url ?? url),
  )
  expect(sent).toHaveLength(expected.length)
  for (const [index, { headers = {}, json, ...members }] of expected.entries()) {
    const request = sent[index]
    expect(request).toMatchObject(members)
    expectHeaders(request?.headers ?? {}, headers)
    if (json !== undefined) expect(JSON.parse(request?.body ?? '')).toMatchObject(json)
  }
}

function expectHeaders(
  headers: Readonly<Record<string, string>>,
  expected: Readonly<Record<string, unknown>>,
): void {
  for (const [name, value] of Object.entries(expected)) {
    if (value === null) expect(headers).not.toHaveProperty([name])
    else expect<unknown>({ [name]: headers[name] }).toEqual({ [name]: value })
  }
}

function expectSettled(
  gateway: InProcessGateway,
  seen: Seen,
  { settled, spent }: UnnamedRow,
): void {
  const { records } = gateway.ledger
  const { tickets } = gateway.limits
  if (settled === null) {
    expect(records).toEqual([])
    expect(tickets).toEqual([])
    return
  }
  const { accountId, keyId } = CALLER
  expect(records).toMatchObject([
    { accountId, keyId, id: seen.headers['x-request-id'], ...settled },
  ])
  // Whatever a call has cost, its ledger and its limits were told the same.
  const [record] = records
  const tokens = record?.usage ? record.usage.inputTokens + record.usage.outputTokens : undefined
  const cost = record?.cost ?? UNKNOWN_COST
  expect(tickets[0]?.spent).toMatchObject([
    { cost, ...(tokens === undefined ? {} : { tokens }), ...spent },
  ])
}

/**
 * No answer shows what opens a provider, and nothing that is sent shows what opens this gateway.
 */
function expectNoSecrets({ upstream }: InProcessGateway, seen: Seen): void {
  expect(seen.text + JSON.stringify(seen.headers)).not.toContain('planted-')
  expect(JSON.stringify(upstream.sent)).not.toContain(CALLER_KEY)
}
