/** Settings of Redis or Valkey, by which nodes count limits together. */
import { choice, defineSetting, milliseconds, secret } from '../setting-type.ts'

/**
 * The limits while Redis is away. `share`: each node lets its share of every limit through;
 * `open`: no limit of a key holds; `closed`: calls that have a limit are refused.
 */
export type OutageChoice = (typeof OUTAGE_CHOICES)[number]

const OUTAGE_CHOICES = ['share', 'open', 'closed'] as const

export const redisSettings = {
  REDIS_URL: defineSetting(secret, {
    without: 'none, this node counts alone',
    isShared: true,
    sentence: 'Redis or Valkey for what nodes share: redis[s]://[user:password@]host:port[/db]',
    note:
      'Several hosts, separated by commas, are a Cluster, `redis[s]+sentinel://…/master` are ' +
      'sentinels ([several nodes](operations/several-nodes.md#several-nodes-redis))',
  }),
  GATEHOUSE_REDIS_PREFIX: defineSetting(
    {
      type: 'text',
      // Braces would say which part of a key decides its place in a cluster.
      form: {
        accepts: (prefix) => /^[A-Za-z0-9._:-]{1,64}$/.test(prefix),
        is: 'up to 64 letters, digits, dots, underscores, colons and hyphens',
      },
    },
    { default: 'gatehouse', isShared: true, sentence: 'in front of every key in Redis' },
  ),
  GATEHOUSE_REDIS_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 500,
    sentence: 'time for one answer of Redis',
  }),
  GATEHOUSE_LIMITS_OUTAGE: defineSetting(choice(OUTAGE_CHOICES), {
    default: 'share',
    isShared: true,
    sentence:
      'limits while Redis is away: share (each node its part), open (none) or ' +
      'closed (calls are refused)',
  }),
  GATEHOUSE_LIMITS_GRACE_MS: defineSetting(milliseconds(), {
    without: 'never',
    isShared: true,
    sentence: 'time without Redis after which calls with limits are refused in any case',
  }),
}
