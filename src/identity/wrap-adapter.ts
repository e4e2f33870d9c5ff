/**
 * Wraps better-auth's adapter: changes queries and writes on the way in, and rows on the way out,
 * in transactions too.
 */

import { hash } from 'node:crypto'
import type { DBAdapter, Where } from '@better-auth/core/db/adapter'
import { PASSWORD_LOGIN } from '../store/users/users.ts'
import { OIDC_PROVIDER } from './sign-in-constants.ts'

interface AdapterCall {
  readonly model: string
  readonly where?: Where[] | undefined
  readonly update?: Record<string, unknown>
  readonly data?: Record<string, unknown>
}

interface AdapterChange {
  readonly ask: <Call extends AdapterCall>(call: Call) => Call
  readonly tell: <Row>(row: Row, call: AdapterCall) => Row
}

type TransactionAdapter = Omit<DBAdapter, 'transaction'>

function wrapAdapter(adapter: DBAdapter, change: AdapterChange): DBAdapter {
  return {
    ...wrap(adapter, change),
    transaction: (callback) => adapter.transaction((inner) => callback(wrap(inner, change))),
  }
}

function wrap<Inner extends TransactionAdapter>(inner: Inner, { ask, tell }: AdapterChange): Inner {
  const wrapped: TransactionAdapter = {
    ...inner,
    create: async (call) => tell(await inner.create(ask(call)), call) as never,
    findOne: async (call) => tell(await inner.findOne(ask(call)), call),
    findMany: async (call) =>
      (await inner.findMany(ask(call))).map((row) => tell(row, call)) as never,
    count: (call) => inner.count(ask(call)),
    update: async (call) => tell(await inner.update(ask(call)), call),
    updateMany: (call) => inner.updateMany(ask(call)),
    delete: (call) => inner.delete(ask(call)),
    deleteMany: (call) => inner.deleteMany(ask(call)),
    consumeOne: async (call) => tell(await inner.consumeOne(ask(call)), call),
    incrementOne: async (call) => tell(await inner.incrementOne(ask(call)), call),
  }
  return wrapped as Inner
}

const LOGIN_MODEL = 'account'
/** Never a provider's name in better-auth's settings. */
const FOREIGN = 'another-issuer'

/**
 * Binds logins to their issuer. better-auth identifies a login by the provider's name in the
 * settings, so a name that is given to another issuer would sign its users in as the first issuer's
 * users.
 * @param issuerOf the configured provider's issuer, if any
 */
export function bindLogins(adapter: DBAdapter, issuerOf: () => string | undefined): DBAdapter {
  return wrapAdapter(adapter, {
    ask: (call) => bind(call, issuerOf()),
    tell: (row, { model }) => tellApart(row, model, issuerOf()),
  })
}

function bind<Call extends AdapterCall>(call: Call, issuer: string | undefined): Call {
  const { model, where, data } = call
  if (model !== LOGIN_MODEL) return call
  const isOfProvider = where?.some(
    ({ field, value }) => field === 'providerId' && value === OIDC_PROVIDER,
  )
  const ofIssuer: Where = { field: 'issuer', value: issuer ?? null }
  return {
    ...call,
    ...(where && isOfProvider && { where: [...where, ofIssuer] }),
    ...(data && { data: { ...data, issuer: issuerFor(data, issuer) } }),
  }
}

/** A login of another issuer appears as another provider's login, even when found by its user. */
function tellApart<Row>(row: Row, model: string, issuer: string | undefined): Row {
  if (typeof row !== 'object' || row === null) return row
  if (model === LOGIN_MODEL) return isForeign(row, issuer) ? { ...row, providerId: FOREIGN } : row
  if (!(LOGIN_MODEL in row) || !Array.isArray(row[LOGIN_MODEL])) return row
  const logins = row[LOGIN_MODEL].map((login: unknown) => tellApart(login, LOGIN_MODEL, issuer))
  return { ...row, [LOGIN_MODEL]: logins }
}

function isForeign(row: object, issuer: string | undefined): boolean {
  const { providerId, issuer: own } = row as { readonly [name: string]: unknown }
  return providerId === OIDC_PROVIDER && own !== issuer
}

function issuerFor(data: { readonly providerId?: unknown }, issuer: string | undefined): string {
  if (data.providerId === PASSWORD_LOGIN.providerId) return PASSWORD_LOGIN.issuer
  if (issuer === undefined) throw new Error('A login of an identity provider without an issuer.')
  return issuer
}

const SESSION_MODEL = 'session'
const TOKEN_FIELD = 'token'

/**
 * Stores only SHA-256 hashes of session tokens, so that a reader of the database or a backup cannot
 * make a cookie, even with the secret.
 */
export function hashSessionTokens(adapter: DBAdapter): DBAdapter {
  return wrapAdapter(adapter, { ask: hashed, tell: restore })
}

function hashed<Call extends AdapterCall>(call: Call): Call {
  if (call.model !== SESSION_MODEL) return call
  const where = call.where?.map((condition) =>
    condition.field === TOKEN_FIELD
      ? { ...condition, value: hashValue(condition.value) }
      : condition,
  )
  const update = call.update && withHash(call.update)
  const data = call.data && withHash(call.data)
  return { ...call, ...(where && { where }), ...(update && { update }), ...(data && { data }) }
}

function withHash(written: Record<string, unknown>): Record<string, unknown> {
  const token = tokenOf(written)
  return token === undefined ? written : { ...written, [TOKEN_FIELD]: toHash(token) }
}

function restore<Row>(row: Row, { model, where = [], data = {} }: AdapterCall): Row {
  if (model !== SESSION_MODEL || typeof row !== 'object' || row === null) return row
  const held = tokenOf(row)
  const asked = where.filter(({ field }) => field === TOKEN_FIELD).flatMap(({ value }) => value)
  const token = [tokenOf(data), ...asked].find(
    (value) => typeof value === 'string' && toHash(value) === held,
  )
  return token === undefined ? row : { ...row, [TOKEN_FIELD]: token }
}

function hashValue(value: Where['value']): Where['value'] {
  if (typeof value === 'string') return toHash(value)
  return Array.isArray(value) ? value.map((each) => toHash(String(each))) : value
}

function tokenOf(row: object): string | undefined {
  const token = TOKEN_FIELD in row ? row[TOKEN_FIELD] : undefined
  return typeof token === 'string' ? token : undefined
}

function toHash(token: string): string {
  return hash('sha256', token, 'hex')
}
