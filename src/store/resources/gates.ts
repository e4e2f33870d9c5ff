import type { Kysely, Selectable, Transaction } from 'kysely'
import { GatewayError } from '../../core/errors.ts'
import type { Fuse } from '../../core/fuse.ts'
import {
  type Gate,
  type GateAlias,
  type GateDefaults,
  toPublicGate,
  USUAL_GATE,
} from '../../core/gate.ts'
import type { GateId } from '../../core/ids.ts'
import type { ModelFacts } from '../../core/model-facts.ts'
import type { AccountCaps } from '../../core/plan.ts'
import type { GateTable, Schema } from '../schema.ts'
import { ResourceStore, type StoredKind } from './resource-store.ts'
import { createTextSharing, type TextSharing } from './share-texts.ts'
import { deleteFusedStops } from './stops.ts'

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
  assertNames,
  changeBelongings: async (transaction, changed, previous) => {
    if (changed.fuse === null && previous.fuse !== null)
      await deleteFusedStops(transaction, changed.accountId, { type: 'gate', id: changed.id })
  },
  deleteBelongings: (transaction, { accountId, id }) =>
    deleteFusedStops(transaction, accountId, { type: 'gate', id }),
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
    aliases: gate.aliases.length === 0 ? null : JSON.stringify(gate.aliases),
    is_catch_all: gate.isCatchAll ? 1 : 0,
    facts: Object.keys(gate.facts).length === 0 ? null : JSON.stringify(gate.facts),
    codex_instructions: gate.codexInstructions,
    usage_headers: gate.usageHeaders ? 1 : 0,
    budget_headers: gate.budgetHeaders ? 1 : 0,
    fuse: gate.fuse === null ? null : JSON.stringify(gate.fuse),
    adapt: gate.adapt,
    ignore_store: gate.ignoreStore ? 1 : 0,
    timeout_ms: gate.timeoutMs,
    max_retries: gate.maxRetries,
    updated_at: gate.updatedAt,
  }
}

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
    aliases: toAliases(row),
    isCatchAll: row.is_catch_all === 1,
    facts: row.facts === null ? USUAL_GATE.facts : (JSON.parse(row.facts) as ModelFacts),
    codexInstructions: row.codex_instructions,
    usageHeaders: row.usage_headers === 1,
    budgetHeaders: row.budget_headers === 1,
    fuse: row.fuse === null ? null : (JSON.parse(row.fuse) as Fuse),
    adapt: share(row.adapt),
    ignoreStore: row.ignore_store === 1,
    timeoutMs: row.timeout_ms,
    maxRetries: row.max_retries,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function toAliases({ aliases }: Pick<Selectable<GateTable>, 'aliases'>): readonly GateAlias[] {
  return aliases === null ? USUAL_GATE.aliases : (JSON.parse(aliases) as readonly GateAlias[])
}

/**
 * Only new names are checked: an older version may have created a gate whose id is another gate's
 * alias, and both gates must stay changeable.
 * @throws GatewayError `conflict` when another gate of the account has a new name or is the
 * catch-all
 */
async function assertNames(
  transaction: Transaction<Schema>,
  gate: Gate,
  previous: Gate | undefined,
): Promise<void> {
  const known = new Set(previous?.aliases.map(({ name }) => name))
  const added = gate.aliases.map(({ name }) => name).filter((name) => !known.has(name))
  if (added.some((name) => name === gate.id)) throw taken(gate.id, "is the gate's own id")
  const isNewCatchAll = gate.isCatchAll && previous?.isCatchAll !== true
  if (previous !== undefined && added.length === 0 && !isNewCatchAll) return
  const others = await transaction
    .selectFrom('gates')
    .select(['id', 'aliases', 'is_catch_all'])
    .where('account_id', '=', gate.accountId)
    .where('id', '!=', gate.id)
    .where(({ eb, or }) =>
      or([
        eb('aliases', 'is not', null),
        eb('is_catch_all', '=', 1),
        ...(added.length === 0 ? [] : [eb('id', 'in', added as GateId[])]),
      ]),
    )
    .execute()
  for (const other of others) {
    const names = toAliases(other).map(({ name }) => name)
    if (previous === undefined && names.includes(gate.id))
      throw conflict('id', `'${gate.id}' is an alias of the gate '${other.id}'.`)
    for (const name of added) {
      if (name === other.id) throw taken(name, 'is the id of a gate')
      if (names.includes(name)) throw taken(name, `is an alias of the gate '${other.id}'`)
    }
    if (isNewCatchAll && other.is_catch_all === 1)
      throw conflict(
        'isCatchAll',
        `The gate '${other.id}' is the catch-all of this account. Set its isCatchAll to false first.`,
      )
  }
}

function taken(alias: string, how: string): GatewayError {
  return conflict('aliases', `The alias '${alias}' ${how}.`)
}

function conflict(field: string, message: string): GatewayError {
  return new GatewayError('conflict', message, { details: [{ field, message }] })
}
