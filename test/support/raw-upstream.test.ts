import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pollUntil } from './poll-until.ts'
import { connectRaw, finishedAnswer, sendRaw } from './raw-client.ts'
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts'
import { beginStream, bodyAnswer, silence, streamAnswer } from './scripted-answers.ts'

let upstream: RawUpstream
beforeAll(async () => {
  upstream = await startRawUpstream()
})
afterAll(() => upstream.stop())

describe('raw upstream and raw client', () => {
  test('the request is kept byte for byte', async () => {
    upstream.answer(bodyAnswer(200, 'hello', { 'x-odd': 'Yes' }))
    const body = '{ "b":1, "a" : 12345678901234567890,"\u{1F600}":"\\u00e9" }'
    const answer = await sendRaw(upstream.url, { path: '/v1/x', headers: { 'X-Odd': 'a' }, body })
    expect(answer).toMatchObject({
      status: 200,
      text: 'hello',
      complete: true,
      headers: { 'x-odd': 'Yes' },
    })
    expect(upstream.last()).toMatchObject({ method: 'POST', path: '/v1/x', text: body })
    expect(upstream.last().head).toContain('X-Odd: a')
  })

  test('a connection serves one request after another', async () => {
    upstream.answer(bodyAnswer(200, 'again'))
    const texts = [
      await (await fetch(upstream.url)).text(),
      await (await fetch(upstream.url)).text(),
    ]
    expect(texts).toEqual(['again', 'again'])
  })

  test('a stream that is cut is not complete', async () => {
    upstream.answer(streamAnswer(['data: 1\n\n'], { ending: 'close' }))
    expect(await sendRaw(upstream.url, { path: '/', body: '{}' })).toMatchObject({
      text: 'data: 1\n\n',
      complete: false,
    })
    upstream.answer(streamAnswer(['data: 1\n\n'], { ending: 'reset' }))
    expect(await sendRaw(upstream.url, { path: '/', body: '{}' })).toMatchObject({
      complete: false,
    })
  })

  test('the upstream notices that its peer has gone', async () => {
    const gone = Promise.withResolvers<number>()
    upstream.answer((exchange) => {
      void exchange.whenClosed.then(gone.resolve)
      return silence(exchange)
    })
    const connection = await connectRaw(upstream.url)
    connection.send('POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n')
    await pollUntil('the request', () => upstream.requests.length > 0)
    connection.destroy()
    expect(await gone.promise).toBeGreaterThan(0)
  })

  test('a slow reader slows the writer down', async () => {
    let accepted = (): number => 0
    upstream.answer(async (exchange) => {
      accepted = exchange.acceptedBytes
      await beginStream(exchange)
      const piece = Buffer.alloc(65_536)
      for (let sent = 0; sent < 1000 && !exchange.closed; sent++) await exchange.write(piece)
    })
    const connection = await connectRaw(upstream.url, { readBytesPerSecond: 100_000 })
    connection.send('POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n')
    await Bun.sleep(1000)
    expect(connection.receivedBytes()).toBeLessThan(2_000_000)
    expect(accepted()).toBeLessThan(30_000_000)
    connection.destroy()
  })

  test('an answer without a length is complete when the server closes', async () => {
    upstream.answer(async (exchange) => {
      await exchange.write('HTTP/1.1 200 OK\r\n\r\nhello')
      exchange.end()
    })
    const connection = await connectRaw(upstream.url)
    connection.send('POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n')
    expect((await finishedAnswer(connection)).text).toBe('hello')
    connection.destroy()
  })
})
