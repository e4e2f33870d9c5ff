import { SIGN_UP_POLICIES } from '../../core/user.ts'
import { choice, defineSetting, secret, type TextType, text } from '../setting-type.ts'

const origin: TextType = {
  type: 'text',
  form: {
    accepts: isOrigin,
    is:
      'an http or https address without path, credentials or query, such as ' +
      'https://gatehouse.example',
  },
}

const issuer: TextType = { type: 'text', form: { accepts: isIssuer, is: 'an https address' } }

const headerName: TextType = {
  type: 'text',
  form: { accepts: (name) => /^[A-Za-z0-9-]{1,64}$/.test(name), is: 'the name of a header' },
}

export const userSettings = {
  GATEHOUSE_SIGN_UP: defineSetting(choice(SIGN_UP_POLICIES), {
    default: 'invitation',
    isShared: true,
    sentence:
      'who may create a user: invitation, open (each with an account of their own) or closed',
    note: '[Users](guides/users.md)',
  }),
  GATEHOUSE_PUBLIC_URL: defineSetting(origin, {
    without: 'the requested address',
    isShared: true,
    sentence: 'address at which browsers reach the gateway, such as https://gatehouse.example',
    note:
      'Needed behind a proxy that terminates TLS, and for OpenID Connect. With https, cookies are ' +
      '[bound to the host](guides/users.md), and browsers are told to use nothing else for a ' +
      'year (`strict-transport-security`)',
  }),
  GATEHOUSE_CLIENT_ADDRESS_HEADER: defineSetting(headerName, {
    without: 'none',
    sentence: 'header in which your proxy puts the address of the client, such as x-forwarded-for',
    note:
      'Its last address counts. Without it, all clients behind a proxy share ' +
      'limits of sign-in attempts and anonymous requests; without a proxy that ' +
      'sets it, anyone could write into it',
  }),
  GATEHOUSE_OIDC_ISSUER: defineSetting(issuer, {
    without: 'none',
    isShared: true,
    sentence: 'address of an OpenID Connect provider to sign in with',
    note: 'Its redirect address is `<GATEHOUSE_PUBLIC_URL>/v1/auth/callback/oidc`',
  }),
  GATEHOUSE_OIDC_CLIENT_ID: defineSetting(text, {
    without: 'none',
    isShared: true,
    sentence: 'client id of the gateway at that provider',
  }),
  GATEHOUSE_OIDC_CLIENT_SECRET: defineSetting(secret, {
    without: 'none',
    sentence: 'client secret of the gateway at that provider',
  }),
}

function isOrigin(address: string): boolean {
  const url = URL.parse(address)
  const rest = url === null ? '' : `${url.username}${url.password}${url.search}${url.hash}`
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && rest === ''
}

/** On this machine, as in tests, http is allowed. */
function isIssuer(address: string): boolean {
  const url = URL.parse(address)
  if (url === null) return false
  const isLocal = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)
}
