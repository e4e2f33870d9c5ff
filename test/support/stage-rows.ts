/**
 * A call through the data plane as a row of a table: the request, what both sides do, and the
 * expected results.
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

export interface UnnamedRow {
  /** What differs from the usual gateway, which has a gate with a target. */
  readonly gateway?: Partial<GatewayScript>
  readonly request?: Partial<ClientRequest>
  readonly upstream?: readonly Script[]
  readonly client?: ClientScript
  readonly seen: ExpectedAnswer
  readonly sent?: readonly ExpectedRequest[]
  /** The call's row in the ledger; null for a call that was refused before admission. */
  readonly settled: Partial<CallRecord> | null
  /** What the limits received about the call. */
  readonly spent?: Partial<Spent>
  readonly failures?: readonly Partial<GatewayError>[]
  readonly tookMs?: number
  readonly check?: (gateway: InProcessGateway, seen: Seen) => void
}

export interface StageRow extends UnnamedRow {
  readonly name: string
}

export interface ExpectedAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, unknown>>
  readonly text?: string
  readonly json?: object
  readonly contains?: readonly string[]
  readonly forbids?: readonly string[]
  readonly ending?: Seen['ending']
}

export interface ExpectedRequest extends Partial<Omit<SentRequest, 'headers' | 'body'>> {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly body?: string
  readonly json?: object
}

export const CHAT = '/v1/chat/completions'
export const GATE = 'the-gate'
export const TARGET = 'openai/gpt-4o'

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
  // The ledger and the limits must receive the same cost.
  const [record] = records
  const tokens = record?.usage ? record.usage.inputTokens + record.usage.outputTokens : undefined
  const cost = record?.cost ?? UNKNOWN_COST
  expect(tickets[0]?.spent).toMatchObject([
    { cost, ...(tokens === undefined ? {} : { tokens }), ...spent },
  ])
}

/**
 * No answer contains a provider's credential, and no request to a provider contains the gateway's
 * key.
 */
function expectNoSecrets({ upstream }: InProcessGateway, seen: Seen): void {
  expect(seen.text + JSON.stringify(seen.headers)).not.toContain('planted-')
  expect(JSON.stringify(upstream.sent)).not.toContain(CALLER_KEY)
}
