import type { Kysely, Selectable } from 'kysely'
import { type Gate, type GateDefaults, toPublicGate } from '../../core/gate.ts'
import type { AccountCaps } from '../../core/plan.ts'
import type { GateTable, Schema } from '../schema.ts'
import { ResourceStore, type StoredKind } from './resource-store.ts'
import { createTextSharing, type TextSharing } from './share-texts.ts'

const gateKind: StoredKind<'gate', Gate, Gate> = {
  word: 'gate',
  idColumn: 'id',
  mayClash: true,
  nameOf: (gate) => gate,
  toRow: (gate) => ({
    account_id: gate.accountId,
    id: gate.id,
    created_at: gate.createdAt,
    ...toMutableColumns(gate),
  }),
  toChanges: toMutableColumns,
  createReader() {
    const share = createTextSharing()
    return (row) => toGate(row, share)
  },
  toPublic: toPublicGate,
}

export class GateTableStore extends ResourceStore<'gate', Gate> {
  constructor(database: Kysely<Schema>, caps?: AccountCaps) {
    super(database, gateKind, caps)
  }
}

function toMutableColumns(gate: Gate): Omit<GateTable, 'account_id' | 'id' | 'created_at'> {
  return {
    display_name: gate.displayName,
    description: gate.description,
    targets: JSON.stringify(gate.targets),
    strategy: gate.strategy,
    hedge_after_ms: gate.hedgeAfterMs,
    defaults: gate.defaults === null ? null : JSON.stringify(gate.defaults),
    overrides: gate.overrides,
    timeout_ms: gate.timeoutMs,
    max_retries: gate.maxRetries,
    updated_at: gate.updatedAt,
  }
}

/** @param share deduplicates texts that many gates have in common */
function toGate(row: Selectable<GateTable>, share: TextSharing): Gate {
  const targets = JSON.parse(row.targets) as { model: string; weight?: number }[]
  for (const target of targets) target.model = share(target.model)
  return {
    accountId: share(row.account_id),
    id: row.id,
    displayName: row.display_name === row.id ? row.id : row.display_name,
    description: share(row.description),
    targets,
    strategy: share(row.strategy),
    hedgeAfterMs: row.hedge_after_ms,
    defaults: row.defaults === null ? null : (JSON.parse(row.defaults) as GateDefaults),
    overrides: share(row.overrides),
    timeoutMs: row.timeout_ms,
    maxRetries: row.max_retries,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
