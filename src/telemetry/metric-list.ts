/**
 * Every metric at `/metrics`: name, labels and meaning, for Prometheus and for
 * docs/generated/metrics.md.
 */

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  /** A single line, without a full stop. */
  readonly help: string
  /** A caveat, shown only in the documentation. */
  readonly note?: string
}

type More = Partial<Pick<Metric, 'labels' | 'note'>>

const define =
  (type: Metric['type']) =>
  (help: string, { labels = [], note }: More = {}): Metric => ({
    type,
    labels,
    help,
    ...(note === undefined ? {} : { note }),
  })
const counter = define('counter')
const gauge = define('gauge')
const histogram = define('histogram')

export const METRICS = {
  gatehouse_calls_total: counter('Calls that have ended, by the target asked last', {
    labels: ['target', 'dialect', 'outcome', 'error_kind', 'status_class'],
    note:
      '`outcome` is `succeeded`, `failed`, `cancelled` (the client left) or `refused` (turned ' +
      'away before it was admitted). `error_kind` is `none` of a success, else a kind of ' +
      '[errors](../errors.md). `target` is `none` where none was asked.',
  }),
  gatehouse_gate_calls_total: counter('Admitted calls that have ended, by gate', {
    labels: ['gate', 'outcome'],
    note:
      'Gates of several accounts that have the same id are one series. `(unknown)`: the caller ' +
      'named a gate that does not exist.',
  }),
  gatehouse_call_duration_seconds: histogram(
    'Time from the arrival of an admitted call to the end of its answer',
    { labels: ['target', 'outcome'] },
  ),
  gatehouse_first_byte_seconds: histogram(
    'Time from the arrival of a call to the first byte of its answer from upstream',
    { labels: ['target'] },
  ),
  gatehouse_tokens_total: counter('Tokens as the providers reported them', {
    labels: ['target', 'type'],
    note:
      '`type` is `input` (cached ones included), `output` (reasoning included), and of these ' +
      '`cached_input` and `reasoning`: do not add all four.',
  }),
  gatehouse_attempts_total: counter(
    'Times that an upstream was asked, retries, fallbacks and hedges included',
    {
      labels: ['target', 'status_class'],
      note: '`status_class` is of the upstream’s own answer; `none`: it gave no status.',
    },
  ),
  gatehouse_fallbacks_total: counter(
    'Times that a call went on to another target than the one asked before',
    { labels: ['gate'], note: 'Hedges too.' },
  ),
  gatehouse_limits_refused_total: counter('Calls that a limit refused', {
    labels: ['kind'],
    note: '`kind` is `rate_limited` or `quota_exceeded`. A provider’s own 429 is none of these.',
  }),
  gatehouse_refused_before_upstream_total: counter(
    'Calls that the gateway itself refused, before any upstream was sent anything',
    {
      labels: ['code'],
      note:
        '`code` is that of the error (`price_unknown`, `provider_account_id`, ' +
        '`rate_limit_exceeded` …), or its kind where it has none. A code that rises after a ' +
        'client was updated is a client that is refused: `gatehouse logs --refused CODE` shows ' +
        'the calls.',
    },
  ),
  gatehouse_calls_in_flight: gauge('Calls that have come in and have not ended'),
  gatehouse_breakers_open: gauge(
    'Accounts for which a target is left alone because it failed, until a call ' +
      'has found it well again',
    { labels: ['target'], note: 'A healthy target is not listed.' },
  ),
  gatehouse_upstream_connections: gauge(
    'Connections to upstreams: those that are open, and of these the ones that no call uses',
    {
      labels: ['provider', 'state'],
      note: '`state` is `open` or `idle`. `owned` stands for all owned models together.',
    },
  ),
  gatehouse_upstream_connections_total: counter(
    'Connections to upstreams that were opened or could not be, and calls that ' +
      'found an open one',
    {
      labels: ['provider', 'event'],
      note:
        '`event` is `opened`, `failed` or `reused`. Against a provider each one ' +
        'opened costs a handshake.',
    },
  ),
  gatehouse_handles: gauge('Handles of the process: connections, files and what it listens on', {
    labels: ['state'],
    note:
      '`state` is `open` or `most` (`ulimit -n`). Only on Linux. From four fifths on, no ' +
      'connection of a client is kept between requests.',
  }),
  gatehouse_journal_writable: gauge('1 while calls can be written down, else 0'),
  gatehouse_journal_unshipped_bytes: gauge('Bytes in the journal that wait for the database'),
  gatehouse_journal_segments: gauge('Files of the journal that wait for the database'),
  gatehouse_journal_backlog_records: gauge(
    'Calls kept in memory because the journal cannot be written',
  ),
  gatehouse_journal_dropped_records_total: counter(
    'Calls that are written down nowhere, because the backlog was full',
  ),
  gatehouse_journal_damaged_lines_total: counter('Lines of the journal that could not be read'),
  gatehouse_journal_newer_segments: gauge(
    'Files of the journal that a later version has written and this one leaves as they are',
    {
      note:
        'After a roll-back. What is in them comes to the database when that version is started on ' +
        'this data folder again.',
    },
  ),
  gatehouse_journal_older_segments: gauge(
    'Files of the journal that an earlier build has written and this one leaves as they are',
    {
      note:
        'After the database was adopted. Only the earlier build can ship them, to the database ' +
        'from before the adoption.',
    },
  ),
  gatehouse_shipper_lag_seconds: gauge(
    'Age of the oldest closed file of the journal that is not in the database; ' +
      '0 while none waits',
    { note: 'Normally about a second.' },
  ),
  gatehouse_config_reloads_refused_total: counter(
    'Times that the configuration file was lost, empty or wrong when it was to be read again',
    {
      note:
        'The settings from before stay in force. Of several workers, the supervisor counts, and ' +
        'the metric has no label `worker`.',
    },
  ),
  gatehouse_redis_up: gauge('1 while Redis answers, else 0', {
    note: 'Only with `REDIS_URL`, as are the next four.',
  }),
  gatehouse_redis_nodes: gauge('Nodes that share the limits, as last known'),
  gatehouse_redis_questions_total: counter('Questions put to Redis'),
  gatehouse_redis_failures_total: counter('Questions that Redis did not answer in time or refused'),
  gatehouse_limits_mode: gauge('1 for what counts as limits now', {
    labels: ['mode'],
    note:
      '`shared`: the limits of all nodes together. While Redis is away: `share`, `open` or ' +
      '`closed`, as `GATEHOUSE_LIMITS_OUTAGE` says.',
  }),
  gatehouse_redis_right: gauge('1 while Redis is not known to be another installation’s, else 0', {
    note:
      'Only with `REDIS_URL`. It is compared where there is a `DATABASE_URL`; with 0, ' +
      '`gatehouse_redis_up` is 0 too.',
  }),
  gatehouse_store_right: gauge(
    '1 while the store is the one that this node began with, else 0: another installation’s, ' +
      'or its file is gone',
  ),
  gatehouse_store_set_back_total: counter(
    'How often the store was found at an earlier change than this node had seen',
    { note: 'A backup was restored under running nodes, or a failover lost committed changes.' },
  ),
  gatehouse_store_status: gauge('1 for how this node stands to Postgres now', {
    labels: ['status'],
    note:
      'Only with `DATABASE_URL`, as are the next seven. `ok`; `grace`: Postgres is away and ' +
      'calls are served; `away`: they are refused.',
  }),
  gatehouse_store_lease_seconds: gauge(
    'Time for which this node may still serve from memory without asking',
    { note: '0 for longer than a moment: it is cut off, or was stopped.' },
  ),
  gatehouse_store_contact_age_seconds: gauge('Time since this node last knew every change'),
  gatehouse_changes_applied: gauge(
    'Number of the last change that this node has followed; the same on all ' +
      'nodes when all is well',
  ),
  gatehouse_changes_behind: gauge('Changes that this node has heard of and could not read'),
  gatehouse_refreshes_total: counter(
    'Requests that had to wait until this node had caught up, or were refused ' +
      'because it could not',
  ),
  gatehouse_confirmations_total: counter(
    'Changes made on this node that are in force on every node',
  ),
  gatehouse_confirmation_seconds_total: counter(
    'Time that these changes took to be in force everywhere',
  ),
  gatehouse_event_loop_lag_seconds: gauge(
    'The longest that the event loop was late in the last minute',
    { note: 'Measured twice a second, so a shorter delay may be missed.' },
  ),
  gatehouse_resident_memory_bytes: gauge('Memory that the process holds (RSS)'),
  gatehouse_heap_bytes: gauge('The heap of the runtime: what is used of it, and what it takes up', {
    labels: ['state'],
    note:
      '`state` is `used` (what the last collection left, and what was made since) or `total`. ' +
      'It rises and falls with each collection; its lowest values over hours tell whether ' +
      'something grows.',
  }),
  gatehouse_uptime_seconds: gauge('Time since the process started'),
  gatehouse_build_info: gauge('Always 1; what runs is in the labels', {
    labels: ['version', 'runtime'],
  }),
}

/** With `serve --workers`: metrics about each worker, from the supervisor. */
export const SUPERVISOR_METRICS = {
  gatehouse_worker_up: gauge('1 while this worker serves, else 0', {
    labels: ['worker'],
    note: 'Only with `serve --workers`, as is the next; there every metric has the label `worker`.',
  }),
  gatehouse_worker_restarts_total: counter('Times that a worker that had ended was started again', {
    labels: ['worker'],
  }),
}

export type MetricName = keyof typeof METRICS
