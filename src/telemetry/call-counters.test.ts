import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CallRecord } from '../core/call.ts'
import {
  type AccountId,
  createCallId,
  DEFAULT_ACCOUNT,
  type GateId,
  type KeyId,
} from '../core/ids.ts'
import { CallCounters, SeriesTable } from './call-counters.ts'
import { METRICS } from './metric-list.ts'
import { EventLoopLag, readMetrics, renderMetrics } from './metrics.ts'
import { TagLabels } from './tag-labels.ts'

function call(fields: Partial<CallRecord> = {}): CallRecord {
  return {
    id: createCallId(),
    accountId: DEFAULT_ACCOUNT,
    keyId: 'key_1' as KeyId,
    gateId: 'demo' as GateId,
    dialect: 'openai-chat',
    stream: false,
    target: 'sandbox/echo',
    attempts: 1,
    outcome: 'succeeded',
    status: 200,
    errorKind: null,
    startedAt: 0,
    firstByteMs: 20,
    durationMs: 30,
    usage: null,
    credential: 'platform',
    ...fields,
  }
}

function render(counters: CallCounters): string {
  const lag = new EventLoopLag()
  lag.stop()
  const sources = {
    journal: () => ({
      writable: true,
      unshippedBytes: 0,
      segments: 0,
      backlog: 0,
      dropped: 3,
      damagedLines: 0,
      newerSegments: 0,
      olderSegments: 0,
    }),
    shipperLag: () => 0,
    connections: () => new Map(),
    installation: () => ({ isRight: true, setBacks: 0 }),
    openBreakers: () => ['a/b', 'a/b', 'a/c'],
  }
  return renderMetrics(readMetrics({ counters, lag, sources, version: '1' }))
}

test('calls that the gateway refused are counted by their code, admitted or not', async () => {
  const counters = new CallCounters()
  const refusal = { id: createCallId(), dialect: 'openai-chat', keyId: null, startedAt: 0 }
  const refuse = (refusalCode: string | undefined) =>
    counters.refuse({
      ...refusal,
      kind: 'invalid_request',
      status: 400,
      refusalCode,
      refusedBy: undefined,
      durationMs: 1,
    })
  counters.finish(call({ outcome: 'failed', refusalCode: 'price_unknown' }), [])
  counters.finish(call({ outcome: 'failed', refusalCode: 'price_unknown' }), [])
  counters.finish(call({ outcome: 'failed', errorKind: 'upstream_error' }), [])
  counters.finish(call(), [])
  refuse('invalid_json')
  refuse(undefined)
  const lines = (await render(counters)).split('\n')
  expect(
    lines.filter((line) => line.startsWith('gatehouse_refused_before_upstream_total')),
  ).toEqual([
    'gatehouse_refused_before_upstream_total{code="price_unknown"} 2',
    'gatehouse_refused_before_upstream_total{code="invalid_json"} 1',
  ])
})

test('only named tags are labels, each value of its own, with calls, tokens and costs', async () => {
  const labels = new TagLabels(['team-a', 'repo'])
  const { accountId } = call()
  const texts = ['team-a', 'repo:gatehouse', 'repo:other', 'team-b', 'customer:4711']
  for (const [index, text] of texts.entries()) labels.note(accountId, `hash-${index}`, text)
  const counters = new CallCounters(labels)
  const cost = { nanoUsd: 1_500_000_000, status: 'exact', source: 'list' } as const
  const usage = { inputTokens: 9, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 }
  counters.finish(call({ tags: 'hash-0 hash-1 hash-3 hash-4', cost, usage }), [])
  counters.finish(call({ tags: 'hash-2', outcome: 'failed', usage: null }), [])
  counters.finish(call({ tags: 'hash-3 hash-unknown' }), [])
  counters.finish(call({ accountId: 'acct_stranger' as AccountId, tags: 'hash-1' }), [])
  const lines = (await render(counters)).split('\n')
  expect(
    lines.filter((line) => line.startsWith('gatehouse_tag_') && !line.includes('_tokens_')),
  ).toEqual([
    'gatehouse_tag_calls_total{value="",tag="team-a",outcome="succeeded"} 1',
    'gatehouse_tag_calls_total{value="gatehouse",tag="repo",outcome="succeeded"} 1',
    'gatehouse_tag_calls_total{value="other",tag="repo",outcome="failed"} 1',
    'gatehouse_tag_cost_usd_total{value="",tag="team-a"} 1.5',
    'gatehouse_tag_cost_usd_total{value="gatehouse",tag="repo"} 1.5',
    'gatehouse_tag_cost_usd_total{value="other",tag="repo"} 0',
  ])
  expect(lines).toContain(
    'gatehouse_tag_tokens_total{value="gatehouse",tag="repo",type="output"} 7',
  )
  expect(await render(new CallCounters())).not.toMatch(/^gatehouse_tag_/m)
})

test('values of a tag are bounded, and the sum stays right', async () => {
  const labels = new TagLabels(['repo'])
  const { accountId } = call()
  const counters = new CallCounters(labels)
  for (let index = 0; index < 12_000; index += 1) {
    labels.note(accountId, `${index}`, `repo:${index}`)
    counters.finish(call({ tags: `${index}` }), [])
  }
  const lines = (await render(counters)).split('\n')
  const series = lines.filter((line) => line.startsWith('gatehouse_tag_calls_total'))
  expect(series).toHaveLength(2_001)
  expect(series.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)).toBe(12_000)
})

test('every metric of the list is on the page, with its help, once', async () => {
  const page = await render(new CallCounters())
  for (const [name, { help, type }] of Object.entries(METRICS)) {
    expect(page.split(`# TYPE ${name} ${type}\n`)).toHaveLength(2)
    expect(page).toContain(`# HELP ${name} ${help}.\n`)
  }
})

test('a second scrape shows the same', async () => {
  const counters = new CallCounters()
  counters.begin()
  counters.finish(call(), [])
  // The clock and the collector change the figures of the process between two scrapes.
  const ofTheProcess =
    /^gatehouse_(?:uptime_seconds|resident_memory_bytes|heap_bytes|event_loop_lag_seconds)\b.*$/gm
  const lasting = async () => (await render(counters)).replaceAll(ofTheProcess, '')
  expect(await lasting()).toBe(await lasting())
  expect(await render(counters)).toContain('gatehouse_journal_dropped_records_total 3\n')
  expect(await render(counters)).toContain('gatehouse_breakers_open{target="a/b"} 2\n')
})

test('a bucket holds values up to and including its bound', async () => {
  const counters = new CallCounters()
  for (const durationMs of [10, 11, 600_000, 600_001]) counters.finish(call({ durationMs }), [])
  const page = await render(counters)
  const bucket = (le: string) =>
    `gatehouse_call_duration_seconds_bucket{le="${le}",target="sandbox/echo",outcome="succeeded"}`
  for (const [le, count] of [
    ['0.01', 1],
    ['0.025', 2],
    ['300', 2],
    ['600', 3],
    ['+Inf', 4],
  ] as const)
    expect(page).toContain(`${bucket(le)} ${count}\n`)
})

test('a label of any text stays one line', async () => {
  const counters = new CallCounters()
  counters.finish(call({ target: 'owned/a"b\\c\nd' }), [])
  expect(await render(counters)).toContain('target="owned/a\\"b\\\\c\\nd"')
})

test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, 2 ** 60])(
  'a provider that reports %p tokens spoils nothing',
  async (tokens) => {
    const counters = new CallCounters()
    const usage = { inputTokens: tokens, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0 }
    counters.finish(call({ usage }), [])
    const page = await render(counters)
    expect(page).toContain('gatehouse_tokens_total{target="sandbox/echo",type="input"} 0\n')
    expect(page).toContain('gatehouse_tokens_total{target="sandbox/echo",type="output"} 7\n')
  },
)

describe('with any number of gates and targets', () => {
  test('the page stays bounded, and the sum right', async () => {
    const counters = new CallCounters()
    for (let index = 0; index < 5_000; index += 1)
      counters.finish(
        call({ target: `owned/model-${index}`, gateId: `gate-${index}` as GateId }),
        [],
      )
    counters.finish(call({ target: 'owned/model-1', gateId: 'gate-1' as GateId }), [])
    expect([...counters.calls.values()]).toHaveLength(2_001)
    const page = await render(counters)
    expect(page.split('\ngatehouse_calls_total{')).toHaveLength(2_002)
    expect(page).toContain('gatehouse_gate_calls_total{gate="other",outcome="succeeded"} 3000\n')
    expect(page).toContain('gatehouse_gate_calls_total{gate="gate-1",outcome="succeeded"} 2\n')
    expect(page.length).toBeLessThan(4_000_000)
  })

  test('a table counts each event exactly once, under its name or under other', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.constantFrom('x', 'y'))),
        fc.integer({ min: 0, max: 5 }),
        (events, max) => {
          const table = new SeriesTable(max, (labels) => ({ labels, count: 0 }))
          for (const [bounded, rest] of events) table.of(bounded, rest).count += 1
          const series = [...table.values()]
          expect(series.reduce((sum, { count }) => sum + count, 0)).toBe(events.length)
          expect(series.length).toBeLessThanOrEqual(max + 2)
          for (const { labels, count } of series) {
            if (labels[0] === 'other') continue
            expect(count).toBe(
              events.filter(([name, rest]) => name === labels[0] && rest === labels[1]).length,
            )
          }
        },
      ),
    )
  })
})
