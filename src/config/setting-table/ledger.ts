import { choice, days, defineSetting, milliseconds } from '../setting-type.ts'

export const ledgerSettings = {
  GATEHOUSE_LEDGER_FAILURE: defineSetting(choice(['closed', 'open']), {
    default: 'closed',
    isShared: true,
    sentence: 'closed: refuse calls while usage cannot be recorded; open: serve them',
  }),
  GATEHOUSE_SHIP_INTERVAL_MS: defineSetting(milliseconds(10, 60_000), {
    default: 1_000,
    sentence: 'longest time that a completed call waits in the journal before it is stored',
    note: 'A shorter time shows calls sooner, a longer one makes fewer and larger transactions',
  }),
  GATEHOUSE_RETENTION_DAYS: defineSetting(days, {
    default: 30,
    isShared: true,
    sentence: 'how long single calls are kept in the log; their sums are kept longer',
    note:
      'Old ones are deleted once an hour, 200 at a time ' +
      '([clocks](operations/several-nodes.md#clocks))',
  }),
  GATEHOUSE_HOURLY_DAYS: defineSetting(
    { ...days, min: 15 },
    {
      default: 90,
      isShared: true,
      sentence: 'how long hourly sums are kept; daily sums are kept forever',
      note:
        'Older ones are deleted once an hour, a day at a time. Never shorter than ' +
        '`GATEHOUSE_RETENTION_DAYS` ([what goes](operations/sizing.md#sums-by-the-hour), ' +
        '[clocks](operations/several-nodes.md#clocks))',
    },
  ),
  GATEHOUSE_USER_DAYS: defineSetting(days, {
    default: 396,
    isShared: true,
    sentence: 'how long daily sums by user are kept: 13 months; sums by tag are kept forever',
    note:
      'Older ones are deleted once an hour, a day at a time, and so are the names of users who have ' +
      'not called since. Never shorter than `GATEHOUSE_RETENTION_DAYS`, after which sessions are ' +
      'deleted ([what is stored](guides/attribution.md#what-is-stored))',
  }),
  GATEHOUSE_AUDIT_RETENTION_DAYS: defineSetting(days, {
    default: 365,
    isShared: true,
    sentence: 'how long the audit log is kept',
    note:
      'Older rows are deleted once an hour, 50 at a time ' +
      '([clocks](operations/several-nodes.md#clocks), [audit log](guides/audit-log.md))',
  }),
}
