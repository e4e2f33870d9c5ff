import { withoutTrailingSlashes } from '../core/http.ts'
import type { Secret } from '../core/secret.ts'
import { readGiven, readSetting } from './read-setting.ts'
import type { SettingValue } from './setting-table.ts'
import { type Environment, SettingsError } from './setting-type.ts'

export interface UserSettings {
  /**
   * `invitation`: people who were invited; `open`: anyone, with a new account; `closed`: no one.
   */
  readonly signUp: SettingValue<'GATEHOUSE_SIGN_UP'>
  readonly publicOrigin: string | undefined
  /** Lower case. Trustworthy only if a proxy always sets the header. */
  readonly clientAddressHeader: string | undefined
  readonly oidc: OidcSettings | undefined
}

export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret
}

export function readUserSettings(environment: Environment): UserSettings {
  const publicUrl = readGiven(environment, 'GATEHOUSE_PUBLIC_URL')
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin
  return {
    signUp: readSetting(environment, 'GATEHOUSE_SIGN_UP'),
    publicOrigin,
    clientAddressHeader: readGiven(environment, 'GATEHOUSE_CLIENT_ADDRESS_HEADER')?.toLowerCase(),
    oidc: readOidc(environment, publicOrigin),
  }
}

const OIDC_NAMES = [
  'GATEHOUSE_OIDC_ISSUER',
  'GATEHOUSE_OIDC_CLIENT_ID',
  'GATEHOUSE_OIDC_CLIENT_SECRET',
] as const

function readOidc(
  environment: Environment,
  publicOrigin: string | undefined,
): OidcSettings | undefined {
  const issuer = readGiven(environment, 'GATEHOUSE_OIDC_ISSUER')
  const clientId = readGiven(environment, 'GATEHOUSE_OIDC_CLIENT_ID')
  const clientSecret = readGiven(environment, 'GATEHOUSE_OIDC_CLIENT_SECRET')
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    const missing = OIDC_NAMES.find((name) => !environment[name])
    throw new SettingsError(`${missing} is missing: OpenID Connect needs all three.`)
  }
  // The redirect address is registered with the provider in advance, so the address cannot depend
  // on a request.
  if (publicOrigin === undefined)
    throw new SettingsError(
      'GATEHOUSE_PUBLIC_URL is missing: OpenID Connect sends browsers back to it.',
    )
  return { issuer: withoutTrailingSlashes(new URL(issuer).href), clientId, clientSecret }
}
