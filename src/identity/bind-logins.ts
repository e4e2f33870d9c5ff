/**
 * Binds what an identity provider calls its users to that provider's issuer: better-auth knows them
 * by the name of the provider in our settings, under which another may stand tomorrow, and whoever
 * has the same subject there would be them. Knows no protocol.
 */
import type { DBAdapter, Where } from '@better-auth/core/db/adapter'
import { PASSWORD_LOGIN } from '../store/users/users.ts'
import { OIDC_PROVIDER } from './sign-in-constants.ts'
import { type AdapterCall, wrapAdapter } from './wrap-adapter.ts'

const MODEL = 'account'
/** No provider's name in the settings of better-auth. */
const FOREIGN = 'another-issuer'

/** @param issuerOf the provider's in our settings; undefined: there is none */
export function bindLogins(adapter: DBAdapter, issuerOf: () => string | undefined): DBAdapter {
  return wrapAdapter(adapter, {
    ask: (call) => bind(call, issuerOf()),
    tell: (row, { model }) => tellApart(row, model, issuerOf()),
  })
}

function bind<Call extends AdapterCall>(call: Call, issuer: string | undefined): Call {
  const { model, where, data } = call
  if (model !== MODEL) return call
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

/** A login of another issuer is another provider's, also where it is found by its user. */
function tellApart<Row>(row: Row, model: string, issuer: string | undefined): Row {
  if (typeof row !== 'object' || row === null) return row
  if (model === MODEL) return isForeign(row, issuer) ? { ...row, providerId: FOREIGN } : row
  if (!(MODEL in row) || !Array.isArray(row[MODEL])) return row
  const logins = row[MODEL].map((login: unknown) => tellApart(login, MODEL, issuer))
  return { ...row, [MODEL]: logins }
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
