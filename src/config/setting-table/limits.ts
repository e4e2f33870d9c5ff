/** Settings of how much callers may have: keys, accounts, and callers of the control plane. */
import { CAPS, type Cap } from '../../core/resource-table.ts'
import { count, defineSetting } from '../setting-type.ts'

/** At least one of each: the first key and the owner are things like all others. */
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
    sentence: 'calls that one key may make a minute, whatever its plan says',
    note: '[Plans](guides/limits.md)',
  }),
  GATEHOUSE_CONCURRENT_CALLS: defineSetting(count(1), {
    without: "the plan's",
    isShared: true,
    sentence: 'calls that one key may have open at once, whatever its plan says',
  }),
  ...capSettings,
  GATEHOUSE_CONTROL_REQUESTS_PER_MINUTE: defineSetting(count(1), {
    default: 6_000,
    sentence: 'control-plane requests that a node takes a minute of one account',
    note:
      'Its keys and its users are counted apart, and each node counts for itself. Beyond it 429 ' +
      'with `retry-after` ([0035](decisions/0035-one-account-has-bounds.md))',
  }),
  GATEHOUSE_ANONYMOUS_REQUESTS_PER_MINUTE: defineSetting(count(1), {
    default: 1_200,
    sentence:
      'requests without a valid key or session that a node takes a minute of one network address',
    note:
      'The sign-in page, `/openapi.json`, wrong keys. Behind a proxy it needs ' +
      '`GATEHOUSE_CLIENT_ADDRESS_HEADER`',
  }),
}
