/** Every form of REDIS_URL, and that a wrong one is refused without being repeated. */
import { describe, expect, test } from 'bun:test'
import { readRedisSettings } from './redis-settings.ts'

const read = (url: string, more: Record<string, string> = {}) =>
  readRedisSettings({ REDIS_URL: url, ...more })

test('Redis is off without an address, and its other settings are not read', () => {
  expect(readRedisSettings({ GATEHOUSE_LIMITS_OUTAGE: 'nonsense' })).toBeUndefined()
  expect(readRedisSettings({ REDIS_URL: '' })).toBeUndefined()
})

describe('an address', () => {
  test.each([
    [
      'redis://cache',
      { topology: 'single', nodes: [{ host: 'cache', port: 6379 }], hasTls: false, database: 0 },
    ],
    [
      'rediss://cache:7000/3',
      { topology: 'single', nodes: [{ host: 'cache', port: 7000 }], hasTls: true, database: 3 },
    ],
    ['redis://[::1]:6380/', { topology: 'single', nodes: [{ host: '::1', port: 6380 }] }],
    [
      'redis://a:7000,b,c:7002',
      {
        topology: 'cluster',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 6379 },
          { host: 'c', port: 7002 },
        ],
      },
    ],
    ['rediss+cluster://entry:6379', { topology: 'cluster', hasTls: true }],
    [
      'redis+sentinel://s1,s2:26380/main/2',
      {
        topology: 'sentinel',
        masterName: 'main',
        database: 2,
        nodes: [
          { host: 's1', port: 26379 },
          { host: 's2', port: 26380 },
        ],
      },
    ],
  ])('%s', (url, expected) => {
    expect(read(url)).toMatchObject(expected)
  })

  test('has a user and a password, percent-encoded, and neither is ever printed', () => {
    const settings = read('redis://app:p%40ss%2Fword@cache')
    expect(settings?.username).toBe('app')
    expect(settings?.password?.reveal()).toBe('p@ss/word')
    expect(JSON.stringify(settings)).not.toContain('p@ss')
    expect(read('redis://:alone@cache')).toMatchObject({ username: undefined })
    expect(read('redis://:alone@cache')?.password?.reveal()).toBe('alone')
  })

  test.each([
    'http://user:planted-secret@cache',
    'redis://user:planted-secret@',
    'redis://user:planted-secret@cache:99999',
    'redis://user:planted-secret@a,,b',
    'redis://user:planted-secret@a,b/1',
    'redis://user:planted-secret@cache/one',
    'redis://user:planted-secret@cache/1/2',
    'redis://user:planted-secret%@cache',
    'redis+sentinel://user:planted-secret@s1,s2',
    'redis://user:planted-secret@cache?x=1',
  ])('with a fault is refused and not repeated: %s', (url) => {
    let message = ''
    try {
      read(url)
    } catch (error) {
      message = String(error)
    }
    expect(message).toContain('REDIS_URL must')
    expect(message).not.toContain('planted-secret')
  })
})

test('the choice for an outage is a setting; by default each node uses its share without a time limit', () => {
  expect(read('redis://cache')).toMatchObject({
    prefix: 'gatehouse',
    timeoutMs: 500,
    outage: { choice: 'share', graceMs: Number.POSITIVE_INFINITY },
  })
  const chosen = {
    GATEHOUSE_LIMITS_OUTAGE: 'open',
    GATEHOUSE_LIMITS_GRACE_MS: '30000',
    GATEHOUSE_REDIS_PREFIX: 'staging:gw',
    GATEHOUSE_REDIS_TIMEOUT_MS: '50',
  }
  expect(read('redis://cache', chosen)).toMatchObject({
    prefix: 'staging:gw',
    timeoutMs: 50,
    outage: { choice: 'open', graceMs: 30_000 },
  })
  expect(() => read('redis://cache', { GATEHOUSE_LIMITS_OUTAGE: 'maybe' })).toThrow(
    'GATEHOUSE_LIMITS_OUTAGE',
  )
  expect(() => read('redis://cache', { GATEHOUSE_LIMITS_GRACE_MS: '0' })).toThrow(
    'GATEHOUSE_LIMITS_GRACE_MS',
  )
  expect(() => read('redis://cache', { GATEHOUSE_REDIS_PREFIX: 'a{b}' })).toThrow(
    'GATEHOUSE_REDIS_PREFIX',
  )
})
