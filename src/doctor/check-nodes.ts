/**
 * The nodes on a Postgres: whether those that are there have the settings that this machine has,
 * where all have to have the same. Writes nothing.
 */
import { type Kysely, sql } from 'kysely'
import { compareSharedSettings, type SharedSettings } from '../config/shared-settings.ts'
import type { Finding } from '../core/finding.ts'
import { SEEN_MS, type SettingsRow, settingsOfRows } from '../store/changes/change-feed.ts'
import { listApplied } from '../store/migrations/migrations.ts'
import type { Schema } from '../store/schema.ts'
import { findingsOf } from './finding.ts'

const { ok, warn } = findingsOf('nodes')

/** Before it no node says anything of its settings. */
const STEP = '0037_node_settings'

export async function checkNodes(
  database: Kysely<Schema>,
  shared: SharedSettings,
): Promise<Finding[]> {
  if (!(await listApplied(database)).includes(STEP)) return []
  const { rows } = await sql<SettingsRow>`
    SELECT id, incarnation, host, settings FROM nodes
    WHERE last_seen > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${SEEN_MS}::bigint
    ORDER BY id`.execute(database)
  const nodes = settingsOfRows(rows)
  const hosts = new Map<string, Set<string>>()
  for (const { host, settings } of nodes)
    for (const { setting, here, there } of compareSharedSettings(shared, settings)) {
      const message = `${setting} is ${there} at another node and ${here} here`
      hosts.set(message, (hosts.get(message) ?? new Set()).add(host))
    }
  if (hosts.size > 0)
    return [...hosts].map(([message, where]) =>
      warn(
        `${message} (${[...where].join(', ')})`,
        'Give all nodes on this database the same value, and restart those that had another',
      ),
    )
  return nodes.length === 0
    ? []
    : [ok(`${nodes.length} on this database, with the settings that all have to share`)]
}
