/**
 * Nodes tell each other through Postgres which changes there were, in the order of their
 * commits, how far each node has followed them, and until when it may serve without having done so.
 * All times are the database's own. Knows no resource.
 */
import type { AccountId } from '../../core/ids.ts'
import type { PostgresSession } from '../database/postgres-session.ts'

export const CHANGES_CHANNEL = 'gatehouse_changes'

export interface FollowedChange {
  /** One more than that of the commit before. */
  readonly seq: number
  readonly accountId: AccountId
  /** `key`, `gate`, …: an older or newer version may follow others. */
  readonly resourceType: string
  readonly resourceId: string
  readonly operation: 'insert' | 'update' | 'delete'
}

export interface NodeRow {
  /** The same after a restart, which takes the row over. */
  readonly id: string
  /** Another for each start. */
  readonly incarnation: string
  readonly host: string
  readonly version: string
  readonly leaseMs: number
  /** How long it may serve after its last renewal without one; at least the lease counts. */
  readonly graceMs: number
  /** Within the grace it serves only what Redis vouches for. */
  readonly needsRedis: boolean
  /** Those that all nodes have to share, without secrets. */
  readonly settings: SettingsByName
}

/** By their names, as people read them. */
export type SettingsByName = Readonly<Record<string, string>>

/** Another node, by what it says of its settings. */
export interface NodeWithSettings {
  readonly id: string
  readonly host: string
  readonly settings: SettingsByName
}

/** The database is another installation's now: what it holds is not what this node serves. */
class OtherInstallationError extends Error {
  override readonly name = 'OtherInstallationError'
}

/** A node that may serve without knowing a change. */
export interface Laggard {
  readonly id: string
  /** Milliseconds left, by the database's clock; below zero: over. */
  readonly leaseMs: number
  readonly graceMs: number
  readonly needsRedis: boolean
}

interface Counted {
  readonly value: number
  readonly installation: string | null
}

const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint'
const CLOCK_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const HOUR_MS = 3_600_000

/** A node says that it is there several times in a lease, which is some seconds. */
export const SEEN_MS = 60_000

export interface SettingsRow {
  readonly id: string
  readonly incarnation: string
  readonly host: string
  readonly settings: string | null
}

/** The settings of the processes that have the rows now, as they told them. */
export function settingsOfRows(rows: readonly SettingsRow[]): NodeWithSettings[] {
  return rows.flatMap(({ id, incarnation, host, settings: text }) => {
    if (text === null) return []
    const said = JSON.parse(text) as { incarnation: string; settings: SettingsByName }
    return said.incarnation === incarnation ? [{ id, host, settings: said.settings }] : []
  })
}

export class ChangeFeed {
  readonly #session: Pick<PostgresSession, 'query'>
  readonly #node: NodeRow
  readonly #installationId: string | undefined
  #id: string
  #isRegistered = false

  /** @param installationId whose the database has to be; undefined: any */
  constructor(session: Pick<PostgresSession, 'query'>, node: NodeRow, installationId?: string) {
    this.#installationId = installationId
    this.#session = session
    this.#node = node
    this.#id = node.id
  }

  get nodeId(): string {
    return this.#id
  }

  /** Of the last change that was committed. @throws OtherInstallationError */
  async counter(): Promise<number> {
    const [row] = await this.#session.query<Counted>(
      'SELECT value, (SELECT id FROM installation) AS installation FROM change_counter',
    )
    if (row === undefined) throw new Error('the counter of changes is gone')
    return this.#own(row).value
  }

  #own(row: Counted): Counted {
    if (this.#installationId === undefined || row.installation === this.#installationId) return row
    throw new OtherInstallationError(
      `the database is installation ${row.installation ?? '(none)'}'s, not ` +
        `${this.#installationId}'s`,
    )
  }

  /**
   * Says how far this node has come. The lease is extended only where nothing was committed beyond
   * that: the share of the counter's row makes this and a commit come one after the other, so that
   * who commits sees the lease, or is seen.
   * @returns the counter; undefined when the row is gone or another process has taken it
   * @throws OtherInstallationError
   */
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

  /** Makes this node's row, or takes over the one of the process before it. It gives no lease. */
  async register(appliedSeq: number): Promise<void> {
    const { incarnation, host, version, needsRedis, settings } = this.#node
    // A copy of the data folder serves elsewhere: two must not answer for each other.
    if (this.#isRegistered && (await this.#isTaken())) this.#id = `${this.#node.id}-${incarnation}`
    await this.#session.query(
      `INSERT INTO nodes (id, incarnation, host, version, started_at, last_seen, applied_seq, lease_until, grace_until, needs_redis, settings)
       VALUES ($1, $2, $3, $4, ${NOW_MS}, ${NOW_MS}, $5, 0, 0, $6, $7)
       ON CONFLICT (id) DO UPDATE SET incarnation = excluded.incarnation, host = excluded.host, version = excluded.version,
         started_at = excluded.started_at, last_seen = excluded.last_seen, applied_seq = excluded.applied_seq,
         needs_redis = excluded.needs_redis, settings = excluded.settings`,
      [
        ...[this.#id, incarnation, host, version, appliedSeq, needsRedis ? 1 : 0],
        // An older version that takes the row over leaves the column as it is.
        JSON.stringify({ incarnation, settings }),
      ],
    )
    this.#isRegistered = true
  }

  async #isTaken(): Promise<boolean> {
    const rows = await this.#session.query(
      'SELECT 1 FROM nodes WHERE id = $1 AND incarnation <> $2',
      [this.#id, this.#node.incarnation],
    )
    return rows.length > 0
  }

  /** In order; none of those that are over an hour old. */
  async since(seq: number, limit: number): Promise<FollowedChange[]> {
    return await this.#session.query<FollowedChange>(
      `SELECT seq, account_id AS "accountId", resource_type AS "resourceType", resource_id AS "resourceId", operation
       FROM changes WHERE seq > $1 ORDER BY seq LIMIT $2`,
      [seq, limit],
    )
  }

  /** The other nodes that have not said that they know the change, and whose time is not over. */
  async laggards(seq: number): Promise<Laggard[]> {
    const rows = await this.#session.query<Omit<Laggard, 'needsRedis'> & { needsRedis: number }>(
      `SELECT id, lease_until - ${CLOCK_MS} AS "leaseMs", grace_until - ${CLOCK_MS} AS "graceMs", needs_redis AS "needsRedis"
       FROM nodes WHERE id <> $1 AND applied_seq < $2 AND grace_until >= ${CLOCK_MS}`,
      [this.#id, seq],
    )
    return rows.map((row) => ({ ...row, needsRedis: row.needsRedis === 1 }))
  }

  /** The other nodes that are there, but for those of versions that say nothing of it. */
  async settingsOfOthers(): Promise<NodeWithSettings[]> {
    const rows = await this.#session.query<SettingsRow>(
      `SELECT id, incarnation, host, settings FROM nodes
       WHERE id <> $1 AND last_seen > ${CLOCK_MS} - $2 AND settings IS NOT NULL ORDER BY id`,
      [this.#id, SEEN_MS],
    )
    return settingsOfRows(rows)
  }

  /** The clock of the database's machine: milliseconds since the Unix epoch. */
  async clock(): Promise<number> {
    const [row] = await this.#session.query<{ at: number }>(`SELECT ${CLOCK_MS} AS at`)
    if (row === undefined) throw new Error('the database does not tell the time')
    return Number(row.at)
  }

  /** Nobody waits for this node any more: it must not serve after this. */
  async leave(): Promise<void> {
    const { incarnation } = this.#node
    await this.#session.query('DELETE FROM nodes WHERE id = $1 AND incarnation = $2', [
      this.#id,
      incarnation,
    ])
  }

  /**
   * Deletes what nobody needs: changes of over an hour ago, nodes whose time was over an hour ago.
   */
  async sweep(): Promise<void> {
    await this.#session.query(
      'DELETE FROM changes WHERE seq <= (SELECT max(seq) FROM changes WHERE at ' +
        `< ${NOW_MS} - ${HOUR_MS})`,
    )
    await this.#session.query(
      `DELETE FROM nodes WHERE grace_until < ${NOW_MS} - ${HOUR_MS} AND ` +
        `last_seen < ${NOW_MS} - ${HOUR_MS}`,
    )
  }
}
