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
  gatehouse_calls_total: counter('Ended calls, by the target that was asked last', {
    labels: ['target', 'dialect', 'outcome', 'error_kind', 'status_class'],
    note:
      '`outcome` is `succeeded`, `failed`, `cancelled` (the client left) or `refused` (refused ' +
      'before admission). `error_kind` is `none` for a success, otherwise a kind of ' +
      '[errors](../errors.md). `target` is `none` if no target was asked.',
  }),
  gatehouse_gate_calls_total: counter('Ended calls that were admitted, by gate', {
    labels: ['gate', 'outcome'],
    note:
      'Gates of several accounts with the same id are one series. `(unknown)`: the caller named a ' +
      'gate that does not exist.',
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
      '`type` is `input` (includes `cached_input`), `output` (includes `reasoning`), ' +
      '`cached_input` or `reasoning`: do not add all four.',
  }),
  gatehouse_tag_calls_total: counter('Ended calls that were admitted, by a tag', {
    labels: ['value', 'tag', 'outcome'],
    note:
      'Only tags that `GATEHOUSE_METRICS_TAGS` names; for the next two metrics too. `value` is empty ' +
      'for a tag without a value. A call with several of these tags counts in each.',
  }),
  gatehouse_tag_tokens_total: counter('Tokens of calls, by a tag', {
    labels: ['value', 'tag', 'type'],
  }),
  gatehouse_tag_cost_usd_total: counter('Costs of calls, by a tag, in US dollars', {
    labels: ['value', 'tag'],
  }),
  gatehouse_attempts_total: counter(
    'Attempts at upstreams, including retries, fallbacks and hedges',
    {
      labels: ['target', 'status_class'],
      note: '`status_class` is the class of the upstream’s own status; `none`: the upstream sent no status.',
    },
  ),
  gatehouse_upstream_refused_members_total: counter(
    'Requests that an upstream refused with 400 or 422 because of one member',
    {
      labels: ['target', 'member'],
      note:
        '`member` is the member that the upstream names; `other`: an unusual member. If a series ' +
        'rises, the model changed, or the gate needs `adapt` ([gates](../guides/gates.md)).',
    },
  ),
  gatehouse_fallbacks_total: counter('Moves of a call to another target', {
    labels: ['gate'],
    note: 'Hedges are included.',
  }),
  gatehouse_limits_refused_total: counter('Calls that a limit refused', {
    labels: ['kind'],
    note: '`kind` is `rate_limited` or `quota_exceeded`. A provider’s own 429 is not counted.',
  }),
  gatehouse_budget_actions_total: counter('Calls that a budget refused or steered', {
    labels: ['action'],
    note:
      '`action` is `refused`, `cheaper`, `free-only`, `preferred` (a target’s `when`) or `kept` (a ' +
      'turn in its middle kept its target).',
  }),
  gatehouse_refused_before_upstream_total: counter(
    'Calls that the gateway itself refused before any upstream was asked',
    {
      labels: ['code'],
      note:
        '`code` is the code of the error (`price_unknown`, `provider_account_id`, ' +
        '`rate_limit_exceeded` …), or the kind of an error without a code. If a code rises after ' +
        'a client was updated, the client’s calls are refused: `gatehouse logs --refused CODE` ' +
        'lists them.',
    },
  ),
  gatehouse_calls_in_flight: gauge('Calls that have arrived and not ended'),
  gatehouse_breakers_open: gauge(
    'Accounts for which a failed target rests, until a call to it succeeds',
    { labels: ['target'], note: 'A healthy target is not listed.' },
  ),
  gatehouse_upstream_connections: gauge(
    'Connections to upstreams that are open, and that are open and idle',
    {
      labels: ['provider', 'state'],
      note: '`state` is `open` or `idle`. `owned` stands for all owned models together.',
    },
  ),
  gatehouse_upstream_connections_total: counter(
    'Connections to upstreams that were opened or failed, and calls that reused an open ' +
      'connection',
    {
      labels: ['provider', 'event'],
      note:
        '`event` is `opened`, `failed` or `reused`. Each connection that is opened costs a handshake ' +
        'with the provider.',
    },
  ),
  gatehouse_handles: gauge(
    'File descriptors of the process: connections, files and listening sockets',
    {
      labels: ['state'],
      note:
        '`state` is `open` or `most` (`ulimit -n`). Only on Linux. From four fifths on, client ' +
        'connections are closed after each answer.',
    },
  ),
  gatehouse_journal_writable: gauge('1 while calls can be recorded in the journal, otherwise 0'),
  gatehouse_journal_unshipped_bytes: gauge('Bytes in the journal that wait for the database'),
  gatehouse_journal_segments: gauge('Files of the journal that wait for the database'),
  gatehouse_journal_backlog_records: gauge(
    'Calls held in memory because the journal cannot be written',
  ),
  gatehouse_journal_dropped_records_total: counter(
    'Calls that were lost because the backlog was full',
  ),
  gatehouse_journal_damaged_lines_total: counter('Lines of the journal that could not be read'),
  gatehouse_journal_newer_segments: gauge(
    'Journal files of a newer version, which this version does not read',
    {
      note:
        'Above 0 after a rollback. The calls in these files are stored when the newer version is ' +
        'started on this data folder again.',
    },
  ),
  gatehouse_journal_older_segments: gauge(
    'Journal files of an earlier build, which this version does not read',
    {
      note:
        'Above 0 after the database was adopted. Only the earlier build can ship these files, into ' +
        'the database from before the adoption.',
    },
  ),
  gatehouse_shipper_lag_seconds: gauge(
    'Age of the oldest closed journal file that is not in the database; ' + '0 while no file waits',
    { note: 'The age is normally about a second.' },
  ),
  gatehouse_config_reloads_refused_total: counter(
    'Reloads that found the configuration file missing, empty or invalid',
    {
      note:
        'The previous settings stay in force. With several workers the supervisor counts, and the ' +
        'metric has no label `worker`.',
    },
  ),
  gatehouse_redis_up: gauge('1 while Redis answers, otherwise 0', {
    note: 'This metric and the next four exist only with `REDIS_URL`.',
  }),
  gatehouse_redis_nodes: gauge('Nodes that share the limits, at the last contact with Redis'),
  gatehouse_redis_questions_total: counter('Requests to Redis'),
  gatehouse_redis_failures_total: counter('Requests that Redis refused or did not answer in time'),
  gatehouse_limits_mode: gauge('1 for the mode in which limits apply now', {
    labels: ['mode'],
    note:
      '`shared`: the limits of all nodes together. While Redis is unavailable: `share`, `open` or ' +
      '`closed`, as `GATEHOUSE_LIMITS_OUTAGE` says.',
  }),
  gatehouse_redis_right: gauge('0 while Redis belongs to another installation, otherwise 1', {
    note:
      'Only with `REDIS_URL` and compared only with `DATABASE_URL`. While this metric is 0, ' +
      '`gatehouse_redis_up` is 0 too.',
  }),
  gatehouse_store_right: gauge(
    '1 while the store is that of the start, 0 if it belongs to another installation or its ' +
      'file was removed',
  ),
  gatehouse_store_set_back_total: counter(
    'Times that the store was at an earlier change than this node had seen',
    {
      note: 'The cause is a backup that was restored under running nodes, or a failover that lost changes.',
    },
  ),
  gatehouse_store_status: gauge('1 for the present state of Postgres for this node', {
    labels: ['status'],
    note:
      'This metric and the next seven exist only with `DATABASE_URL`. `ok`: Postgres answers. ' +
      '`grace`: Postgres is unavailable and calls are served. `away`: calls are refused.',
  }),
  gatehouse_store_lease_seconds: gauge('Time for which this node may still serve from memory', {
    note: 'If the value stays 0, the node is cut off from Postgres or was paused.',
  }),
  gatehouse_store_contact_age_seconds: gauge('Time since this node last had every change'),
  gatehouse_changes_applied: gauge(
    'Number of the last change that this node has applied; equal on all nodes in normal ' +
      'operation',
  ),
  gatehouse_changes_behind: gauge('Changes that this node was notified of and could not read'),
  gatehouse_refreshes_total: counter(
    'Requests that waited until this node had read all changes, or were refused because it ' +
      'could not',
  ),
  gatehouse_confirmations_total: counter(
    'Changes made on this node that are in force on every node',
  ),
  gatehouse_confirmation_seconds_total: counter(
    'Time until these changes were in force on every node',
  ),
  gatehouse_event_loop_lag_seconds: gauge('Longest delay of the event loop in the last minute', {
    note: 'The delay is measured twice a second, so a shorter delay may be missed.',
  }),
  gatehouse_resident_memory_bytes: gauge('Resident memory of the process'),
  gatehouse_heap_bytes: gauge('Used and total heap of the runtime', {
    labels: ['state'],
    note:
      '`state` is `used` (live at the last collection, plus allocations since then) or `total`. The ' +
      'used heap rises and falls with each collection; its lowest values over hours show whether ' +
      'memory grows.',
  }),
  gatehouse_uptime_seconds: gauge('Time since the process started'),
  gatehouse_build_info: gauge('Always 1; the labels have the versions', {
    labels: ['version', 'runtime'],
  }),
}

/** With `serve --workers`: metrics about each worker, from the supervisor. */
export const SUPERVISOR_METRICS = {
  gatehouse_worker_up: gauge('1 while this worker serves, otherwise 0', {
    labels: ['worker'],
    note: 'This metric and the next exist only with `serve --workers`, where every metric has the label `worker`.',
  }),
  gatehouse_worker_restarts_total: counter('Restarts of a worker that had ended', {
    labels: ['worker'],
  }),
}

export type MetricName = keyof typeof METRICS
