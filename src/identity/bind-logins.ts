/**
 * Binds what an identity provider calls its users to that provider's issuer: better-auth knows them
 * by the name of the provider in our settings, under which another may stand tomorrow, and whoever
 * has the same subject there would be them. Knows no protocol.
 */
import type { DBAdapter, Where } from '@better-auth/core/db/adapter'
import { PASSWORD_LOGIN } from '../store/users/users.ts'
import { OIDC_PROVIDER } from './sign-in-constants.ts'

type TransactionAdapter = Omit<DBAdapter, 'transaction'>

const MODEL = 'account'

/** @param issuerOf the provider's in our settings; undefined: there is none */
export function bindLogins(adapter: DBAdapter, issuerOf: () => string | undefined): DBAdapter {
  return {
    ...wrap(adapter, issuerOf),
    transaction: (callback) => adapter.transaction((inner) => callback(wrap(inner, issuerOf))),
  }
}

function wrap<Inner extends TransactionAdapter>(
  inner: Inner,
  issuerOf: () => string | undefined,
): Inner {
  const bound = <Call extends { readonly model: string; readonly where?: Where[] | undefined }>(
    call: Call,
  ): Call => {
    if (call.model !== MODEL || !call.where?.some(isOfProvider)) return call
    return { ...call, where: [...call.where, { field: 'issuer', value: issuerOf() ?? null }] }
  }
  /** A login of another issuer is another provider's, also where it is found by its user. */
  const told = <Row>(row: Row, model: string): Row => {
    if (typeof row !== 'object' || row === null) return row
    if (model === MODEL) return isForeign(row, issuerOf()) ? { ...row, providerId: FOREIGN } : row
    if (!(MODEL in row) || !Array.isArray(row[MODEL])) return row
    return { ...row, [MODEL]: row[MODEL].map((login: unknown) => told(login, MODEL)) }
  }
  const wrapped: TransactionAdapter = {
    ...inner,
    create: (call) =>
      call.model === MODEL
        ? inner.create({
            ...call,
            data: { ...call.data, issuer: issuerFor(call.data, issuerOf()) },
          })
        : inner.create(call),
    findOne: async (call) => told(await inner.findOne(bound(call)), call.model),
    findMany: async (call) =>
      (await inner.findMany(bound(call))).map((row) => told(row, call.model)) as never,
    count: (call) => inner.count(bound(call)),
    update: async (call) => told(await inner.update(bound(call)), call.model),
    updateMany: (call) => inner.updateMany(bound(call)),
    delete: (call) => inner.delete(bound(call)),
    deleteMany: (call) => inner.deleteMany(bound(call)),
    consumeOne: async (call) => told(await inner.consumeOne(bound(call)), call.model),
    incrementOne: async (call) => told(await inner.incrementOne(bound(call)), call.model),
  }
  return wrapped as Inner
}

/** No provider's name in the settings of better-auth. */
const FOREIGN = 'another-issuer'

function isOfProvider({ field, value }: Where): boolean {
  return field === 'providerId' && value === OIDC_PROVIDER
}

function isForeign(row: object, issuer: string | undefined): boolean {
  const { providerId, issuer: own } = row as { readonly [name: string]: unknown }
  return providerId === OIDC_PROVIDER && own !== issuer
}

/** @throws where an identity provider's login would be nobody's */
function issuerFor(data: { readonly providerId?: unknown }, issuer: string | undefined): string {
  if (data.providerId === PASSWORD_LOGIN.providerId) return PASSWORD_LOGIN.issuer
  if (issuer === undefined) throw new Error('A login of an identity provider without an issuer.')
  return issuer
}
