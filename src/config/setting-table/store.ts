import { STORE_OUTAGE_CHOICES } from '../../core/shared-stores.ts'
import { choice, count, defineSetting, milliseconds, secret } from '../setting-type.ts'

export const storeSettings = {
  DATABASE_URL: defineSetting(secret, {
    without: 'a file in the data folder',
    sentence:
      'Postgres database instead of the file: ' +
      'postgres://user:password@host:5432/database?sslmode=verify-full',
    note: '[Postgres](operations/stores.md#postgres)',
  }),
  GATEHOUSE_DATABASE_POOL_SIZE: defineSetting(count(2, 1_000), {
    default: 10,
    sentence: 'maximum number of Postgres connections per process',
  }),
  GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 5_000,
    sentence: 'time for a new connection to Postgres, or until one becomes free',
  }),
  GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 30_000,
    sentence: 'time for one Postgres statement; migrations have no limit',
  }),
  // With a lease shorter than a response takes, no node could renew its lease.
  GATEHOUSE_LEASE_MS: defineSetting(milliseconds(300), {
    default: 3_000,
    isShared: true,
    sentence: 'how long a node on Postgres may serve from memory without checking for changes',
    note:
      'The same on all nodes ([changes and ' +
      'revocation](operations/several-nodes.md#several-nodes-changes-and-revocation))',
  }),
  GATEHOUSE_STORE_OUTAGE: defineSetting(choice(STORE_OUTAGE_CHOICES), {
    default: 'grace',
    isShared: true,
    sentence:
      'calls while Postgres is unavailable: grace (while no change can be missed), closed (refused) ' +
      'or open (served)',
    note:
      '[While Postgres is ' +
      'away](operations/several-nodes.md#several-nodes-changes-and-revocation)',
  }),
  GATEHOUSE_STORE_GRACE_MS: defineSetting(milliseconds(0), {
    default: 60_000,
    // With Redis, a node is notified of changes.
    defaultWith: { setting: 'REDIS_URL', default: 600_000 },
    isShared: true,
    sentence: 'longest time that calls are served without Postgres',
  }),
}

/**
 * The limits while Redis is unavailable. `share`: each node allows its share of every limit;
 * `open`: keys are not limited; `closed`: calls with a limit are refused.
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
      // Braces would select the part of a key that decides its slot in a cluster.
      form: {
        accepts: (prefix) => /^[A-Za-z0-9._:-]{1,64}$/.test(prefix),
        is: 'up to 64 letters, digits, dots, underscores, colons and hyphens',
      },
    },
    { default: 'gatehouse', isShared: true, sentence: 'prefix of every key in Redis' },
  ),
  GATEHOUSE_REDIS_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 500,
    sentence: 'time limit of one Redis command',
  }),
  GATEHOUSE_LIMITS_OUTAGE: defineSetting(choice(OUTAGE_CHOICES), {
    default: 'share',
    isShared: true,
    sentence:
      'limits while Redis is unavailable: share (each node its part), open (none) or ' +
      'closed (calls are refused)',
  }),
  GATEHOUSE_LIMITS_GRACE_MS: defineSetting(milliseconds(), {
    without: 'never',
    isShared: true,
    sentence: 'time without Redis after which calls with limits are refused in any case',
  }),
}
