import { expect, test } from 'bun:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Hono } from 'hono'
import { answerInTurns } from './analytics.ts'

async function ask(head: object, entries: readonly number[]): Promise<Response> {
  const app = new Hono()
  const toBody = (number: number) => ({ number, text: `"${number}"` })
  app.get('/', (c) => answerInTurns(c, head, { entries, toBody }))
  return await app.request('/')
}

test.each([0, 1, 128, 129, 1_000])(
  '%d entries written in turns equal their JSON written at once',
  async (count) => {
    const entries = Array.from({ length: count }, (_, index) => index)
    const head = { from: 'x', groupBy: null }
    const response = await ask(head, entries)
    expect(response.headers.get('content-type')).toBe('application/json')
    const data = entries.map((number) => ({ number, text: `"${number}"` }))
    expect(await response.text()).toBe(JSON.stringify({ ...head, data }))
  },
)

test('other work runs while a long list is written', async () => {
  let turns = 0
  let isOver = false
  const count = async () => {
    for (; !isOver; turns += 1) await nextTurn()
  }
  const counting = count()
  const response = await ask(
    {},
    Array.from({ length: 1_000 }, (_, index) => index),
  )
  await response.text()
  isOver = true
  await counting
  expect(turns).toBeGreaterThanOrEqual(7)
})

test('a long list is sent in pieces, as they are written', async () => {
  const response = await ask(
    {},
    Array.from({ length: 10_000 }, (_, index) => index),
  )
  const lengths: number[] = []
  for await (const piece of response.body ?? []) lengths.push(piece.byteLength)
  expect(lengths.length).toBeGreaterThan(10_000 / 128)
  expect(Math.max(...lengths)).toBeLessThan(8_000)
})
