/** Names invented by callers must not break or flood an answer's headers. */
import { expect, test } from 'bun:test'
import type { AttemptLog } from '../call.ts'
import { toAnswerHeaders, toSkippedHeader } from './relay-answer.ts'

type Arguments = Parameters<typeof toAnswerHeaders>

const NOTHING: Arguments[1] = { ignored: [], adapted: [] }
function attempts(members: Partial<Arguments[0]>): Arguments[0] {
  return { target: 'openai/gpt-4o', list: [], skipped: [], ...members }
}
const ignored = (...names: string[]) =>
  toAnswerHeaders(attempts({}), { ...NOTHING, ignored: names })['x-gatehouse-ignored']

test('a plain call shows its target and its attempts, and has no header for absent events', () => {
  const list = [{}, {}] as unknown as AttemptLog['list']
  expect(toAnswerHeaders(attempts({ list }), NOTHING)).toEqual({
    'x-gatehouse-target': 'openai/gpt-4o',
    'x-gatehouse-attempts': '2',
  })
  expect(toAnswerHeaders(attempts({ target: null }), NOTHING)['x-gatehouse-target']).toBe('')
  expect(toSkippedHeader({ skipped: [] })).toEqual({})
})

test('resting targets that were passed over are named', () => {
  const skipped = ['groq/a', 'xai/b']
  expect(toSkippedHeader({ skipped })).toEqual({ 'x-gatehouse-skipped': 'groq/a, xai/b' })
  expect(toAnswerHeaders(attempts({ skipped }), NOTHING)).toMatchObject(
    toSkippedHeader({ skipped }),
  )
})

test.each([
  ['plain!', 'plain!'],
  ['+', '+'],
  ['-~', '-~'],
  ['a,b', 'a%2Cb'],
  ['a b', 'a%20b'],
  ['a\r\nb', 'a%0D%0Ab'],
  ['\u007f', '%7F'],
  ['é😀', '%C3%A9%F0%9F%98%80'],
  ['x\ud800', 'x%EF%BF%BD'],
  ['', ''],
])('%j is written %j', (name, written) => {
  expect(ignored('first', name)).toBe(`first, ${written}`)
  expect(toAnswerHeaders(attempts({ target: name }), NOTHING)['x-gatehouse-target']).toBe(written)
})

test('a name is cut after 96 characters, a list after 32 names or 1,024 characters', () => {
  expect(ignored('x'.repeat(96))).toBe('x'.repeat(96))
  expect(ignored('x'.repeat(97))).toBe('x'.repeat(96))
  const names = Array.from({ length: 34 }, (_, index) => `n${index}`)
  expect(ignored(...names.slice(0, 32))).toBe(names.slice(0, 32).join(', '))
  expect(ignored(...names.slice(0, 33))).toBe(`${names.slice(0, 32).join(', ')}, and-more`)
  expect(ignored(...names)).toBe(`${names.slice(0, 32).join(', ')}, and-more`)
  const long = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(96, 'é'))
  const written = ignored(...long) ?? ''
  expect(written.length).toBeLessThanOrEqual(1024)
  expect(written).toEndWith(', and-more')
})
