/**
 * Keeps session tokens out of the database: what better-auth would write there is replaced by its
 * SHA-256, and what it looks for likewise. A reader of the database, or of a backup, cannot make a
 * cookie of it, with or without the secret.
 */
import { hash } from 'node:crypto'
import type { DBAdapter, Where } from '@better-auth/core/db/adapter'
import { type AdapterCall, wrapAdapter } from './wrap-adapter.ts'

const MODEL = 'session'
const FIELD = 'token'

export function hashSessionTokens(adapter: DBAdapter): DBAdapter {
  return wrapAdapter(adapter, { ask: hashed, tell: restore })
}

function hashed<Call extends AdapterCall>(call: Call): Call {
  if (call.model !== MODEL) return call
  const where = call.where?.map((condition) =>
    condition.field === FIELD ? { ...condition, value: hashValue(condition.value) } : condition,
  )
  const update = call.update && withHash(call.update)
  const data = call.data && withHash(call.data)
  return { ...call, ...(where && { where }), ...(update && { update }), ...(data && { data }) }
}

function withHash(written: Record<string, unknown>): Record<string, unknown> {
  const token = tokenOf(written)
  return token === undefined ? written : { ...written, [FIELD]: toHash(token) }
}

/** A question by a token, or a row made with one, gets that token back; any other keeps the hash. */
function restore<Row>(row: Row, { model, where = [], data = {} }: AdapterCall): Row {
  if (model !== MODEL || typeof row !== 'object' || row === null) return row
  const held = tokenOf(row)
  const asked = where.filter(({ field }) => field === FIELD).flatMap(({ value }) => value)
  const token = [tokenOf(data), ...asked].find(
    (value) => typeof value === 'string' && toHash(value) === held,
  )
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
