/** What the operator says of users: who may sign up, how they sign in, under which address. Knows no user. */

import { Secret } from '../core/secret.ts'
import { withoutTrailingSlashes } from '../core/without-trailing-slashes.ts'
import { type Environment, SettingsError } from './environment.ts'

export const SIGN_UP_POLICIES = ['invitation', 'open', 'closed'] as const

export interface UserSettings {
  /** `invitation`: who was invited; `open`: anyone, with an account of their own; `closed`: nobody any more. */
  readonly signUp: (typeof SIGN_UP_POLICIES)[number]
  /** Origin (scheme, host, port) at which browsers reach the gateway; undefined: the one they ask for. */
  readonly publicOrigin: string | undefined
  /** Lower case. Only a proxy that sets it itself makes it worth believing. */
  readonly clientAddressHeader: string | undefined
  readonly oidc: OidcSettings | undefined
}

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret
}

/** @throws SettingsError naming the variable that is wrong */
export function readUserSettings(environment: Environment): UserSettings {
  const publicOrigin = readPublicOrigin(environment.GATEHOUSE_PUBLIC_URL)
  return {
    signUp: readSignUp(environment.GATEHOUSE_SIGN_UP),
    publicOrigin,
    clientAddressHeader: readHeaderName(environment.GATEHOUSE_CLIENT_ADDRESS_HEADER),
    oidc: readOidc(environment, publicOrigin),
  }
}

function readSignUp(text: string | undefined): UserSettings['signUp'] {
  if (text === undefined || text === '') return 'invitation'
  const policy = SIGN_UP_POLICIES.find((candidate) => candidate === text)
  if (policy === undefined)
    throw new SettingsError(
      `GATEHOUSE_SIGN_UP must be one of ${SIGN_UP_POLICIES.join(', ')}, but is '${text}'.`,
    )
  return policy
}

function readPublicOrigin(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const url = URL.parse(text)
  const rest = url === null ? '' : `${url.username}${url.password}${url.search}${url.hash}`
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || rest !== '') {
    throw new SettingsError(
      'GATEHOUSE_PUBLIC_URL must be an http or https address without path, credentials or query, such as https://gatehouse.example.',
    )
  }
  return url.origin
}

function readHeaderName(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^[A-Za-z0-9-]{1,64}$/.test(text))
    throw new SettingsError('GATEHOUSE_CLIENT_ADDRESS_HEADER must be the name of a header.')
  return text.toLowerCase()
}

function readOidc(
  environment: Environment,
  publicOrigin: string | undefined,
): OidcSettings | undefined {
  const given = {
    GATEHOUSE_OIDC_ISSUER: environment.GATEHOUSE_OIDC_ISSUER || undefined,
    GATEHOUSE_OIDC_CLIENT_ID: environment.GATEHOUSE_OIDC_CLIENT_ID || undefined,
    GATEHOUSE_OIDC_CLIENT_SECRET: environment.GATEHOUSE_OIDC_CLIENT_SECRET || undefined,
  }
  const missing = Object.entries(given).filter(([, value]) => value === undefined)
  if (missing.length === Object.keys(given).length) return undefined
  const [first] = missing
  if (first !== undefined)
    throw new SettingsError(`${first[0]} is missing: OpenID Connect needs all three.`)
  // Where the provider sends the browser back to is agreed with it beforehand: it cannot follow a request.
  if (publicOrigin === undefined)
    throw new SettingsError(
      'GATEHOUSE_PUBLIC_URL is missing: OpenID Connect sends browsers back to it.',
    )
  const url = URL.parse(given.GATEHOUSE_OIDC_ISSUER ?? '')
  const isLocal = url !== null && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)))
    throw new SettingsError('GATEHOUSE_OIDC_ISSUER must be an https address.')
  return {
    issuer: withoutTrailingSlashes(url.href),
    clientId: given.GATEHOUSE_OIDC_CLIENT_ID ?? '',
    clientSecret: new Secret(given.GATEHOUSE_OIDC_CLIENT_SECRET ?? ''),
  }
}
