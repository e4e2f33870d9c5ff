/** Settings of the records: calls and changes. */
import { choice, days, defineSetting, milliseconds } from '../setting-type.ts'

export const ledgerSettings = {
  GATEHOUSE_LEDGER_FAILURE: defineSetting(choice(['closed', 'open']), {
    default: 'closed',
    isShared: true,
    sentence: 'closed: refuse calls while usage cannot be written down; open: serve them',
  }),
  GATEHOUSE_SHIP_INTERVAL_MS: defineSetting(milliseconds(10, 60_000), {
    default: 1_000,
    sentence: 'how long an ended call waits in the journal, at most, before it goes into the store',
    note: 'Shorter shows it sooner, longer makes fewer and larger transactions',
  }),
  GATEHOUSE_RETENTION_DAYS: defineSetting(days, {
    default: 30,
    isShared: true,
    sentence: 'how long single calls stay in the log; what they add up to is kept',
    note:
      'Old ones are deleted once an hour, 200 at a time ' +
      '([clocks](operations/several-nodes.md#clocks))',
  }),
  GATEHOUSE_HOURLY_DAYS: defineSetting(
    { ...days, min: 15 },
    {
      default: 90,
      isShared: true,
      sentence: 'how long sums by the hour are kept; sums by the day are kept for ever',
      note:
        'Older ones are deleted once an hour, a day at a time. Never shorter than ' +
        '`GATEHOUSE_RETENTION_DAYS` ([what goes](operations/sizing.md#sums-by-the-hour), ' +
        '[clocks](operations/several-nodes.md#clocks))',
    },
  ),
  GATEHOUSE_AUDIT_RETENTION_DAYS: defineSetting(days, {
    default: 365,
    isShared: true,
    sentence: 'how long the audit log is kept',
    note:
      'Older rows are deleted once an hour, 50 at a time ' +
      '([clocks](operations/several-nodes.md#clocks), [audit log](guides/audit-log.md))',
  }),
}
