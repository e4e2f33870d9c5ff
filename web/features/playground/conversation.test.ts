import { describe, expect, test } from 'bun:test'
import {
  type Answer,
  beginAnswer,
  type Entry,
  openToolCalls,
  settleEntries,
  splitAtLastMessage,
  toMessages,
  untilLastQuestion,
} from './conversation.ts'
import { applyEvent } from './stream-answer.ts'

const user = (text: string): Entry => ({ type: 'user', id: text, text })
const answer = (members: Partial<Answer>): Answer => ({
  ...beginAnswer('a', 'demo'),
  state: 'done',
  ...members,
})
const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Ulm"}' }

describe('a request of the playground', () => {
  test('holds all messages, with the calls of tools and their results', () => {
    const results = [{ callId: 'call_1', name: 'get_weather', content: 'clear' }]
    const entries = [
      user('Hi'),
      answer({ toolCalls: [call] }),
      { type: 'results' as const, id: 'r', results },
    ]
    expect(toMessages(entries)).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'clear' },
    ])
  })

  test('holds the text of a stopped answer, and nothing of a failed one', () => {
    const stopped = answer({ state: 'stopped', content: 'Half an', toolCalls: [call] })
    const failed = answer({ state: 'failed', content: 'Half an' })
    expect(
      toMessages([user('1'), stopped, user('2'), failed, user('3'), answer({ state: 'stopped' })]),
    ).toEqual([
      { role: 'user', content: '1' },
      { role: 'assistant', content: 'Half an' },
      { role: 'user', content: '2' },
      { role: 'user', content: '3' },
    ])
  })
})

test('calls are open until they have a result, and those of a stopped answer never are', () => {
  const calling = answer({ toolCalls: [call] })
  expect(openToolCalls([user('Hi'), calling])).toEqual([call])
  expect(openToolCalls([user('Hi'), calling, user('Next')])).toEqual([])
  expect(openToolCalls([user('Hi'), { ...calling, state: 'stopped' }])).toEqual([])
})

test('the last question and the last message are found, even in an empty conversation', () => {
  const entries = [user('1'), answer({}), user('2'), answer({})]
  expect(untilLastQuestion(entries)).toEqual(entries.slice(0, 3))
  expect(splitAtLastMessage(entries)).toEqual({ before: entries.slice(0, 2), text: '2' })
  expect(untilLastQuestion([])).toBeUndefined()
  expect(splitAtLastMessage([])).toBeUndefined()
})

test('a running answer counts as stopped after the page was left', () => {
  expect(settleEntries([user('1'), beginAnswer('b', 'demo')])).toMatchObject([
    { text: '1' },
    { state: 'stopped' },
  ])
})

describe('a streamed answer', () => {
  const whole = {
    id: 'req_1',
    model: 'sandbox/echo',
    content: 'Grüße',
    finish_reason: 'stop',
    usage: null,
    cost: { usd: null, status: 'unknown' },
    attempts: [],
  }
  const stream = (...events: readonly (readonly [string, object])[]) =>
    events.reduce(
      (before, [name, data], index) =>
        applyEvent(before, { name, data: JSON.stringify(data) }, 10 * (index + 1)),
      beginAnswer('a', 'demo'),
    )

  test('grows, and ends as the gateway’s last event describes it', () => {
    const begun = [
      ['chat.started', { id: 'req_1', model: 'sandbox/echo' }],
      ['chat.delta', { reasoning: 'Hm' }],
      ['chat.delta', { content: 'Grü' }],
      ['chat.news', { unheard: 1 }],
      ['chat.delta', { content: 'ße' }],
    ] as const
    expect(stream(...begun)).toMatchObject({
      state: 'running',
      target: 'sandbox/echo',
      reasoning: 'Hm',
      content: 'Grüße',
      firstTokenMs: 20,
    })
    expect(stream(...begun, ['chat.completed', whole])).toMatchObject({
      state: 'done',
      callId: 'req_1',
      content: 'Grüße',
      reasoning: '',
      firstTokenMs: 20,
      totalMs: 60,
      figures: { cost: { status: 'unknown' } },
    })
  })

  test('keeps parallel calls apart by their index', () => {
    const { toolCalls } = stream(
      ['chat.delta', { tool_call: { index: 0, id: 'c0', name: 'one', arguments: '' } }],
      ['chat.delta', { tool_call: { index: 1, id: 'c1', name: 'two', arguments: '{' } }],
      ['chat.delta', { tool_call: { index: 0, arguments: '{}' } }],
      ['chat.delta', { tool_call: { index: 1, arguments: '"a":1}' } }],
    )
    expect(toolCalls).toEqual([
      { id: 'c0', name: 'one', arguments: '{}' },
      { id: 'c1', name: 'two', arguments: '{"a":1}' },
    ])
  })

  test('keeps its earlier text when it fails', () => {
    expect(
      stream(
        ['chat.delta', { content: 'Half' }],
        ['error', { error: 'upstream_error', message: 'Broke off.' }],
      ),
    ).toMatchObject({
      state: 'failed',
      content: 'Half',
      failure: { code: 'upstream_error', message: 'Broke off.' },
    })
  })
})
