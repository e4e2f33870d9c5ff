/** The message names what was found where, and no password. */
import { expect, test } from 'bun:test'
import { Secret } from '../core/secret.ts'
import { describeOtherRedis } from './describe-other-redis.ts'

test("another installation's Redis is named by its nodes, database, prefix and both ids", () => {
  const message = describeOtherRedis(
    {
      topology: 'cluster',
      nodes: [
        { host: 'one.test', port: 7001 },
        { host: 'two.test', port: 7002 },
      ],
      masterName: undefined,
      username: 'gatehouse',
      password: new Secret('unspeakable'),
      database: 3,
      hasTls: false,
      prefix: 'team',
      timeoutMs: 500,
      outage: { choice: 'share', graceMs: 60_000 },
    },
    { found: 'inst_theirs', expected: 'inst_ours' },
  )
  expect(message).toStartWith(
    "Redis (one.test:7001,two.test:7002, database 3, prefix team) is another installation's: " +
      'found inst_theirs, expected inst_ours.',
  )
  expect(message).toContain('GATEHOUSE_REDIS_PREFIX')
  expect(message).not.toContain('unspeakable')
})
