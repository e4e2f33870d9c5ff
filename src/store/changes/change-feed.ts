/**
 * How nodes report changes to each other through Postgres: which changes were committed, how far
 * each node has read, and how long each node may serve without reading. All times are the
 * database's.
 */
import type { NodeConfiguration } from '../../core/configuration-report.ts'
import type { AccountId } from '../../core/ids.ts'
import type { PostgresSession } from '../database/postgres-session.ts'
import { POSTGRES_CLOCK_MS } from '../database/sql-differences.ts'

export const CHANGES_CHANNEL = 'gatehouse_changes'

export interface FollowedChange {
  readonly seq: number
  readonly accountId: AccountId
  /** A resource type such as `key` or `gate`; other versions may report other types. */
  readonly resourceType: string
  readonly resourceId: string
  readonly operation: 'insert' | 'update' | 'delete'
}

export interface NodeRow {
  readonly id: string
  readonly incarnation: string
  readonly host: string
  readonly version: string
  readonly leaseMs: number
  /** How long the node may serve after the last renewal of its lease; at least the lease. */
  readonly graceMs: number
  /**
   * Whether the node, within the grace period, only serves accounts that Redis confirms to be
   * unchanged.
   */
  readonly needsRedis: boolean
  readonly settings: SettingsByName
}

export type SettingsByName = Readonly<Record<string, string>>

/** A node and the settings that the node has reported. */
export interface NodeWithSettings {
  readonly id: string
  readonly host: string
  readonly settings: SettingsByName
  /** Undefined when the node's version does not report its configuration. */
  readonly configuration?: NodeConfiguration | undefined
}

class OtherInstallationError extends Error {
  override readonly name = 'OtherInstallationError'
}

export interface Laggard {
  readonly id: string
  readonly leaseMs: number
  readonly graceMs: number
  readonly needsRedis: boolean
}

interface Counted {
  readonly value: number
  readonly installation: string | null
}

const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint'
const HOUR_MS = 3_600_000

/** A node reports to the database several times per lease, and a lease is some seconds. */
export const SEEN_MS = 60_000

export interface SettingsRow {
  readonly id: string
  readonly incarnation: string
  readonly host: string
  readonly settings: string | null
}

export function settingsOfRows(rows: readonly SettingsRow[]): NodeWithSettings[] {
  return rows.flatMap(({ id, incarnation, host, settings: text }) => {
    if (text === null) return []
    const { incarnation: author, ...reported } = JSON.parse(text) as Reported
    return author === incarnation ? [{ id, host, ...reported }] : []
  })
}

interface Reported extends Pick<NodeWithSettings, 'settings' | 'configuration'> {
  readonly incarnation: string
}

export class ChangeFeed {
  readonly #session: Pick<PostgresSession, 'query'>
  readonly #node: NodeRow
  readonly #installationId: string | undefined
  #id: string
  #reported: Reported
  #isRegistered = false

  /** @param installationId the database's expected installation; undefined accepts any */
  constructor(session: Pick<PostgresSession, 'query'>, node: NodeRow, installationId?: string) {
    this.#installationId = installationId
    this.#session = session
    this.#node = node
    this.#id = node.id
    this.#reported = { incarnation: node.incarnation, settings: node.settings }
  }

  get nodeId(): string {
    return this.#id
  }

  async counter(): Promise<number> {
    const [row] = await this.#session.query<Counted>(
      'SELECT value, (SELECT id FROM installation) AS installation FROM change_counter',
    )
    if (row === undefined) throw new Error('the table change_counter has no row')
    return this.#own(row).value
  }

  #own(row: Counted): Counted {
    if (this.#installationId === undefined || row.installation === this.#installationId) return row
    throw new OtherInstallationError(
      `the database is installation ${row.installation ?? '(none)'}'s, not ` +
        `${this.#installationId}'s`,
    )
  }

  async renew(appliedSeq: number): Promise<number | undefined> {
    const { incarnation, leaseMs, graceMs } = this.#node
    const [row] = await this.#session.query<Counted>(
      `WITH counted AS MATERIALIZED (SELECT value FROM change_counter WHERE id = 1 FOR SHARE)
       UPDATE nodes SET applied_seq = $3, last_seen = ${NOW_MS},
         lease_until = CASE WHEN counted.value = $3 THEN ${NOW_MS} + $4 ELSE lease_until END,
         grace_until = CASE WHEN counted.value = $3 THEN ${NOW_MS} + $5 ELSE grace_until END
       FROM counted WHERE nodes.id = $1 AND nodes.incarnation = $2
       RETURNING counted.value, (SELECT id FROM installation) AS installation`,
      [this.#id, incarnation, appliedSeq, leaseMs, Math.max(leaseMs, graceMs)],
    )
    return row === undefined ? undefined : this.#own(row).value
  }

  async register(appliedSeq: number): Promise<void> {
    const { incarnation, host, version, needsRedis } = this.#node
    // A copy of the data folder serves elsewhere, so this node takes another id: two nodes must not
    // confirm changes for each other.
    if (this.#isRegistered && (await this.#isTaken())) this.#id = `${this.#node.id}-${incarnation}`
    await this.#session.query(
      `INSERT INTO nodes (id, incarnation, host, version, started_at, last_seen, applied_seq, lease_until, grace_until, needs_redis, settings)
       VALUES ($1, $2, $3, $4, ${NOW_MS}, ${NOW_MS}, $5, 0, 0, $6, $7)
       ON CONFLICT (id) DO UPDATE SET incarnation = excluded.incarnation, host = excluded.host, version = excluded.version,
         started_at = excluded.started_at, last_seen = excluded.last_seen, applied_seq = excluded.applied_seq,
         needs_redis = excluded.needs_redis, settings = excluded.settings`,
      [
        ...[this.#id, incarnation, host, version, appliedSeq, needsRedis ? 1 : 0],
        // An older version that takes over the row does not change this column.
        JSON.stringify(this.#reported),
      ],
    )
    this.#isRegistered = true
  }

  /** Reports settings that changed while this node runs. */
  async report(settings: SettingsByName, configuration: NodeConfiguration): Promise<void> {
    const { incarnation } = this.#node
    this.#reported = { incarnation, settings, configuration }
    await this.#session.query('UPDATE nodes SET settings = $3 WHERE id = $1 AND incarnation = $2', [
      this.#id,
      incarnation,
      JSON.stringify(this.#reported),
    ])
  }

  async #isTaken(): Promise<boolean> {
    const rows = await this.#session.query(
      'SELECT 1 FROM nodes WHERE id = $1 AND incarnation <> $2',
      [this.#id, this.#node.incarnation],
    )
    return rows.length > 0
  }

  async since(seq: number, limit: number): Promise<FollowedChange[]> {
    return await this.#session.query<FollowedChange>(
      `SELECT seq, account_id AS "accountId", resource_type AS "resourceType", resource_id AS "resourceId", operation
       FROM changes WHERE seq > $1 ORDER BY seq LIMIT $2`,
      [seq, limit],
    )
  }

  /** The other nodes that have not confirmed the change, active or not. */
  async unheard(seq: number): Promise<Pick<Laggard, 'id' | 'needsRedis'>[]> {
    const rows = await this.#session.query<{ id: string; needsRedis: number }>(
      'SELECT id, needs_redis AS "needsRedis" FROM nodes WHERE id <> $1 AND applied_seq < $2',
      [this.#id, seq],
    )
    return rows.map(({ id, needsRedis }) => ({ id, needsRedis: needsRedis === 1 }))
  }

  /** Reports calls that this node has ended. */
  async reportEnded(ended: readonly { readonly id: string; readonly calls: number }[]) {
    await this.#session.query(
      `INSERT INTO ended_calls (id, node_id, calls, at)
       SELECT id, $1, calls, ${NOW_MS}
       FROM jsonb_to_recordset($2::text::jsonb) AS ended (id text, calls bigint)`,
      [this.#id, JSON.stringify(ended)],
    )
  }

  /** How many calls the nodes have reported as ended because of a deleted key or a stop. */
  async countEnded(id: string): Promise<number> {
    const [row] = await this.#session.query<{ calls: number | string }>(
      'SELECT coalesce(sum(calls), 0) AS calls FROM ended_calls WHERE id = $1',
      [id],
    )
    return Number(row?.calls ?? 0)
  }

  /** The other active nodes that have not confirmed the change. */
  async laggards(seq: number): Promise<Laggard[]> {
    const rows = await this.#session.query<Omit<Laggard, 'needsRedis'> & { needsRedis: number }>(
      `SELECT id, lease_until - ${POSTGRES_CLOCK_MS} AS "leaseMs", grace_until - ${POSTGRES_CLOCK_MS} AS "graceMs", needs_redis AS "needsRedis"
       FROM nodes WHERE id <> $1 AND applied_seq < $2 AND grace_until >= ${POSTGRES_CLOCK_MS}`,
      [this.#id, seq],
    )
    return rows.map((row) => ({ ...row, needsRedis: row.needsRedis === 1 }))
  }

  /** Other active nodes. Versions that do not report settings are left out. */
  async settingsOfOthers(): Promise<NodeWithSettings[]> {
    const rows = await this.#session.query<SettingsRow>(
      `SELECT id, incarnation, host, settings FROM nodes
       WHERE id <> $1 AND last_seen > ${POSTGRES_CLOCK_MS} - $2 AND settings IS NOT NULL ORDER BY id`,
      [this.#id, SEEN_MS],
    )
    return settingsOfRows(rows)
  }

  /** The clock of the database's machine: milliseconds since the Unix epoch. */
  async clock(): Promise<number> {
    const [row] = await this.#session.query<{ at: number }>(`SELECT ${POSTGRES_CLOCK_MS} AS at`)
    if (row === undefined) throw new Error('the database returned no time')
    return Number(row.at)
  }

  /**
   * Withdraws this node, so that changes no longer wait for it. The node must not serve afterwards.
   */
  async leave(): Promise<void> {
    const { incarnation } = this.#node
    await this.#session.query('DELETE FROM nodes WHERE id = $1 AND incarnation = $2', [
      this.#id,
      incarnation,
    ])
  }

  async sweep(): Promise<void> {
    await this.#session.query(
      'DELETE FROM changes WHERE seq <= (SELECT max(seq) FROM changes WHERE at ' +
        `< ${NOW_MS} - ${HOUR_MS})`,
    )
    await this.#session.query(`DELETE FROM ended_calls WHERE at < ${NOW_MS} - ${HOUR_MS}`)
    await this.#session.query(
      `DELETE FROM nodes WHERE grace_until < ${NOW_MS} - ${HOUR_MS} AND ` +
        `last_seen < ${NOW_MS} - ${HOUR_MS}`,
    )
  }
}
