import { CAPS, type Cap } from '../../core/resource-table.ts'
import { bytes, count, defineSetting, milliseconds } from '../setting-type.ts'

export const clientSettings = {
  GATEHOUSE_MAX_BODY_BYTES: defineSetting(bytes, {
    default: 64 * 1024 * 1024,
    sentence: 'largest request body',
  }),
  GATEHOUSE_MAX_HELD_BODY_BYTES: defineSetting(bytes, {
    default: 512 * 1024 * 1024,
    sentence: 'request bodies that the process holds at once, of all callers together',
    note:
      'Beyond it calls get 503 with `retry-after` ' +
      '([0028](decisions/0028-a-place-before-a-body.md))',
  }),
  GATEHOUSE_BODY_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 60_000,
    sentence: 'time for a request body to arrive',
  }),
  // The runtime stores seconds in a small number.
  GATEHOUSE_IDLE_CONNECTION_MS: defineSetting(milliseconds(1_000, 240_000), {
    default: 75_000,
    sentence: 'how long an idle client connection is kept',
    note: 'Also with an unread body ([0037](decisions/0037-connections-are-let-go.md))',
  }),
  GATEHOUSE_REQUESTS_PER_ADDRESS: defineSetting(count(1), {
    without: 'no limit',
    sentence:
      'requests that one client address may have open at once, in one process; beyond it 429',
    note:
      'Behind a proxy set `GATEHOUSE_CLIENT_ADDRESS_HEADER` first: without it ' +
      'all clients count as one address',
  }),
  GATEHOUSE_KEEP_ALIVE_MS: defineSetting(milliseconds(), {
    default: 15_000,
    sentence: 'silence in a stream after which the client gets the comment `: keep-alive`',
  }),
  GATEHOUSE_COMMIT_AFTER_MS: defineSetting(milliseconds(0), {
    default: 15_000,
    sentence:
      'silence before the first event of a stream after which its answer starts anyway; 0: never',
    note: 'It starts with 200 and comments ([long silences](operations/deploy.md#long-silences))',
  }),
  GATEHOUSE_REVOKED_CALLS_MS: defineSetting(milliseconds(), {
    default: 2_000,
    isShared: true,
    sentence:
      'longest time that a running call continues after its key was deleted or has expired, or its ' +
      'session ended',
    note: 'On every node; it ends with an error in its own dialect',
  }),
  GATEHOUSE_DRAIN_DELAY_MS: defineSetting(milliseconds(0, 3_600_000), {
    default: 0,
    sentence:
      'time after SIGTERM in which calls are still accepted, so that balancers see /readyz fail',
    note: '[Upgrades](operations/upgrade.md#upgrading-without-downtime)',
  }),
  GATEHOUSE_SHUTDOWN_TIMEOUT_MS: defineSetting(milliseconds(), {
    default: 30_000,
    sentence: 'time that open calls get to finish at SIGTERM',
  }),
}

/** At least 1 each, because the first key and the owner count too. */
const cap = count(1, 1_000_000)

const OF_ONE_ACCOUNT =
  'The same on all nodes ([how much one account may ' +
  'have](guides/limits.md#how-much-one-account-may-have))'

const capSetting = ({ of, most }: Cap) =>
  defineSetting(cap, {
    default: most,
    isShared: true,
    sentence: `${of} that one account may have`,
    note: OF_ONE_ACCOUNT,
  })

const capSettings = Object.fromEntries(
  CAPS.map((entry) => [entry.variable, capSetting(entry)]),
) as Readonly<Record<Cap['variable'], ReturnType<typeof capSetting>>>

export const limitSettings = {
  GATEHOUSE_REQUESTS_PER_MINUTE: defineSetting(count(1), {
    without: "the plan's",
    isShared: true,
    sentence: 'calls per minute that one key may make, on every plan',
    note: '[Plans](guides/limits.md)',
  }),
  GATEHOUSE_CONCURRENT_CALLS: defineSetting(count(1), {
    without: "the plan's",
    isShared: true,
    sentence: 'calls that one key may have open at once, on every plan',
  }),
  ...capSettings,
  GATEHOUSE_CONTROL_REQUESTS_PER_MINUTE: defineSetting(count(1), {
    default: 6_000,
    sentence: 'control-plane requests per minute that a node accepts from one account',
    note:
      'Its keys and its users are counted separately, and each node counts alone. Beyond it 429 ' +
      'with `retry-after` ([0035](decisions/0035-one-account-has-bounds.md))',
  }),
  GATEHOUSE_ANONYMOUS_REQUESTS_PER_MINUTE: defineSetting(count(1), {
    default: 1_200,
    sentence:
      'requests per minute without a valid key or session that a node accepts from one address',
    note:
      'The sign-in page, `/openapi.json`, wrong keys. Behind a proxy it needs ' +
      '`GATEHOUSE_CLIENT_ADDRESS_HEADER`',
  }),
}
