/**
 * Keeps session tokens out of the database: what better-auth would write there is replaced by its
 * SHA-256, and what it looks for likewise. A reader of the database, or of a backup, cannot make a
 * cookie of it, with or without the secret.
 */
import { hash } from 'node:crypto'
import type { DBAdapter, Where } from '@better-auth/core/db/adapter'

type TransactionAdapter = Omit<DBAdapter, 'transaction'>

const MODEL = 'session'
const FIELD = 'token'

export function hashSessionTokens(adapter: DBAdapter): DBAdapter {
  return {
    ...wrap(adapter),
    transaction: (callback) => adapter.transaction((inner) => callback(wrap(inner))),
  }
}

function wrap<Inner extends TransactionAdapter>(inner: Inner): Inner {
  const wrapped: TransactionAdapter = {
    ...inner,
    async create(call) {
      const token = call.model === MODEL ? tokenOf(call.data) : undefined
      if (token === undefined) return inner.create(call)
      const created = await inner.create<Record<string, unknown>>({
        ...call,
        data: { ...call.data, [FIELD]: toHash(token) },
      })
      return { ...created, [FIELD]: token } as never
    },
    findOne: async (call) => restore(await inner.findOne(hashed(call)), call),
    findMany: async (call) =>
      (await inner.findMany(hashed(call))).map((row) => restore(row, call)) as never,
    count: (call) => inner.count(hashed(call)),
    update: async (call) => restore(await inner.update(hashed(call)), call),
    updateMany: (call) => inner.updateMany(hashed(call)),
    delete: (call) => inner.delete(hashed(call)),
    deleteMany: (call) => inner.deleteMany(hashed(call)),
    consumeOne: async (call) => restore(await inner.consumeOne(hashed(call)), call),
    incrementOne: async (call) => restore(await inner.incrementOne(hashed(call)), call),
  }
  return wrapped as Inner
}

interface ByWhere {
  readonly model: string
  readonly where?: Where[] | undefined
  readonly update?: Record<string, unknown>
}

function hashed<Call extends ByWhere>(call: Call): Call {
  if (call.model !== MODEL) return call
  const where = call.where?.map((condition) =>
    condition.field === FIELD ? { ...condition, value: hashValue(condition.value) } : condition,
  )
  const token = call.update === undefined ? undefined : tokenOf(call.update)
  const update = token === undefined ? call.update : { ...call.update, [FIELD]: toHash(token) }
  return { ...call, ...(where && { where }), ...(update && { update }) }
}

/** A question by a token gets that token back; any other row keeps the hash. */
function restore<Row>(row: Row, call: ByWhere): Row {
  if (call.model !== MODEL || typeof row !== 'object' || row === null) return row
  const held = tokenOf(row)
  const asked = call.where?.filter(({ field }) => field === FIELD).flatMap(({ value }) => value)
  const token = asked?.find((value) => typeof value === 'string' && toHash(value) === held)
  return token === undefined ? row : { ...row, [FIELD]: token }
}

function hashValue(value: Where['value']): Where['value'] {
  if (typeof value === 'string') return toHash(value)
  return Array.isArray(value) ? value.map((each) => toHash(String(each))) : value
}

function tokenOf(row: object): string | undefined {
  const token = FIELD in row ? row[FIELD] : undefined
  return typeof token === 'string' ? token : undefined
}

function toHash(token: string): string {
  return hash('sha256', token, 'hex')
}
