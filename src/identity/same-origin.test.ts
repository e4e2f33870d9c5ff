import { expect, test } from 'bun:test'
import { assertSameOrigin } from './same-origin.ts'

const own = 'http://gatehouse.test:4000'
const csrf = { 'x-gatehouse-csrf': '1' }

function isRefused(
  method: string,
  headers: Record<string, string>,
  publicOrigin: string | undefined = undefined,
): boolean {
  try {
    assertSameOrigin(
      { method, url: `${own}/v1/gates`, headers: new Headers(headers) },
      publicOrigin,
    )
    return false
  } catch (error) {
    expect(error).toMatchObject({ kind: 'forbidden', status: 403 })
    return true
  }
}

test('a read needs nothing; a write needs the own origin and the header', () => {
  for (const method of ['GET', 'HEAD']) expect(isRefused(method, {})).toBe(false)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    expect(isRefused(method, { origin: own, ...csrf })).toBe(false)
    expect(isRefused(method, { origin: own })).toBe(true)
    expect(isRefused(method, csrf)).toBe(true)
    expect(isRefused(method, {})).toBe(true)
    expect(isRefused(method, { origin: own, 'x-gatehouse-csrf': '' })).toBe(true)
  }
})

test.each([
  'null',
  'http://gatehouse.test',
  'https://gatehouse.test:4000',
  'http://gatehouse.test:4001',
  'http://evil.gatehouse.test:4000',
  'http://gatehouse.test:4000.evil.test',
  'HTTP://GATEHOUSE.TEST:4000',
  `${own}/`,
])('the origin %s is a foreign one', (origin) => {
  expect(isRefused('POST', { origin, ...csrf })).toBe(true)
})

test('the public address, if it is configured, is the only own origin', () => {
  const publicOrigin = 'https://gatehouse.example'
  expect(isRefused('POST', { origin: publicOrigin, ...csrf }, publicOrigin)).toBe(false)
  expect(isRefused('POST', { origin: own, ...csrf }, publicOrigin)).toBe(true)
})
