/**
 * Signing in and the master key, which is rotated while people are signed in.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from '../support/browser.ts'
import { controlPlaneCall } from '../support/control-plane.ts'
import { startIdentityProvider } from '../support/identity-provider.ts'
import { runCli } from '../support/run-cli.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

const PUBLIC = 'http://gatehouse.test'
const password = 'correct horse battery staple'
const body = { email: 'owner@example.test', name: 'Owner', password }

async function rotate(dataFolder: string): Promise<void> {
  const environment = { GATEHOUSE_DATA_DIR: dataFolder }
  const { stdout, stderr } = await runCli(['master-key', 'rotate', '--json'], { environment })
  expect({ stderr, said: JSON.parse(stdout || '{}') }).toMatchObject({
    said: { outcome: 'rotated' },
  })
}

function openBrowser(url: string, before?: Browser): Browser {
  const browser = new Browser(url, { origin: PUBLIC })
  for (const [name, value] of before?.cookies ?? []) browser.cookies.set(name, value)
  return browser
}

test('people sign in with the master key of the first start; a rotation ends sessions with the next restart, not sooner', async () => {
  const provider = startIdentityProvider()
  provider.user = { sub: 'sub-ann', email: 'ann@example.test', email_verified: true, name: 'Ann' }
  const environment = {
    GATEHOUSE_PUBLIC_URL: PUBLIC,
    GATEHOUSE_OIDC_ISSUER: provider.issuer,
    GATEHOUSE_OIDC_CLIENT_ID: provider.clientId,
    GATEHOUSE_OIDC_CLIENT_SECRET: provider.clientSecret,
  }
  const server = await startGatehouse({ environment })
  try {
    const file = join(server.dataFolder, 'master.key')
    const email = 'ann@example.test'
    const invited = await controlPlaneCall(server, 'POST', '/v1/invitations', { email })
    expect(invited.status).toBe(201)
    const { token: invitation } = (await invited.json()) as { token: string }
    expect((await openBrowser(server.url).send('/v1/auth')).status).toBe(200)
    const owner = openBrowser(server.url)
    const headers = { authorization: `Bearer ${server.key}` }
    await owner.json('/v1/auth/sign-up', 201, { method: 'POST', body, headers })
    expect(statSync(file).mode & 0o777).toBe(0o600)

    await rotate(server.dataFolder)
    expect(await owner.json('/v1/session', 200)).toMatchObject({ user: { email: body.email } })
    // The identity provider's part is loaded only now, and its cookies are those of the rest.
    const ann = openBrowser(server.url)
    const begun = await ann.json('/v1/auth/oidc', 200, {
      method: 'POST',
      body: { returnTo: '/', invitation },
    })
    const there = await fetch(String(begun.url), { redirect: 'manual' })
    const callback = (there.headers.get('location') ?? '').slice(PUBLIC.length)
    expect((await ann.send(callback, { headers: { origin: '' } })).headers.get('location')).toBe(
      '/',
    )
    expect(await ann.json('/v1/session', 200)).toMatchObject({ user: { email } })

    expect(await server.stop()).toBe(0)
    const again = await startGatehouse({
      dataFolder: server.dataFolder,
      key: server.key,
      environment,
    })
    try {
      for (const before of [owner, ann])
        expect((await openBrowser(again.url, before).send('/v1/session')).status).toBe(401)
      const returning = openBrowser(again.url)
      const given = { email: body.email, password }
      await returning.json('/v1/auth/sign-in', 200, { method: 'POST', body: given })
      expect(await returning.json('/v1/session', 200)).toMatchObject({
        user: { email: body.email },
      })
    } finally {
      await again.remove()
    }
  } finally {
    await server.remove()
    await provider.stop()
  }
})
