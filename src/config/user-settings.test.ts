import { expect, test } from 'bun:test'
import { readUserSettings } from './user-settings.ts'

const oidc = {
  GATEHOUSE_PUBLIC_URL: 'https://gatehouse.example/',
  GATEHOUSE_OIDC_ISSUER: 'https://login.example/realm/',
  GATEHOUSE_OIDC_CLIENT_ID: 'gatehouse',
  GATEHOUSE_OIDC_CLIENT_SECRET: 'very secret',
}

test('defaults: by invitation, under the requested address, without an identity provider', () => {
  expect(readUserSettings({})).toEqual({
    signUp: 'invitation',
    publicOrigin: undefined,
    clientAddressHeader: undefined,
    oidc: undefined,
  })
})

test('an identity provider needs all of its variables and a public address', () => {
  const settings = readUserSettings(oidc)
  expect(settings).toMatchObject({
    publicOrigin: 'https://gatehouse.example',
    oidc: { issuer: 'https://login.example/realm', clientId: 'gatehouse' },
  })
  expect(JSON.stringify(settings)).not.toContain('very secret')
  for (const name of Object.keys(oidc)) {
    expect(() => readUserSettings({ ...oidc, [name]: '' })).toThrow(name)
  }
})

test.each([
  ['GATEHOUSE_SIGN_UP', 'anyone'],
  ['GATEHOUSE_PUBLIC_URL', 'gatehouse.example'],
  ['GATEHOUSE_PUBLIC_URL', 'ftp://gatehouse.example'],
  ['GATEHOUSE_PUBLIC_URL', 'https://gatehouse.example/path'],
  ['GATEHOUSE_PUBLIC_URL', 'https://user:pass@gatehouse.example'],
  ['GATEHOUSE_CLIENT_ADDRESS_HEADER', 'x forwarded for'],
])('%s refuses %s', (name, value) => {
  expect(() => readUserSettings({ [name]: value })).toThrow(name)
})

test.each(['http://login.example', 'login.example', 'javascript:x'])(
  '%s is refused as an issuer',
  (issuer) => {
    expect(() => readUserSettings({ ...oidc, GATEHOUSE_OIDC_ISSUER: issuer })).toThrow(
      'GATEHOUSE_OIDC_ISSUER',
    )
  },
)
