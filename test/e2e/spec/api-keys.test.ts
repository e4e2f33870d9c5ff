/** interface-spec, "API key": its table row by row, then the provider key. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import {
  type ControlPlane,
  controlPlaneCall,
  createKey,
  deleteKey,
} from '../../support/control-plane.ts'
import { readFlatError } from '../../support/envelopes.ts'
import { pollUntil } from '../../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../../support/start-gatehouse.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

interface KeyRow {
  readonly id: string
  readonly name: string
  readonly maskedPrefix: string
  readonly lastUsedAt: string | null
}

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
})
afterAll(() => gatehouse.remove())

const withKey = (key: string): ControlPlane => ({ url: gatehouse.url, key })

/** The status of a call through a gate and of one to the control plane. */
async function statuses(key: string): Promise<readonly number[]> {
  const answers = await Promise.all([
    controlPlaneCall(withKey(key), 'POST', '/v1/responses', { model: 'demo', input: 'hi' }),
    controlPlaneCall(withKey(key), 'GET', '/v1/gates'),
  ])
  await Promise.all(answers.map((answer) => answer.text()))
  return answers.map((answer) => answer.status)
}

async function listKeys(): Promise<{ readonly text: string; readonly rows: readonly KeyRow[] }> {
  const text = await (await controlPlaneCall(gatehouse, 'GET', '/v1/keys?limit=200')).text()
  return { text, rows: (JSON.parse(text) as { data: KeyRow[] }).data }
}

async function rowOf(id: string): Promise<KeyRow> {
  const row = (await listKeys()).rows.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(`the list has no key ${id}`)
  return row
}

const importKey = (key: string): Promise<Response> =>
  controlPlaneCall(gatehouse, 'POST', '/v1/keys/import', { name: 'from before', key })

describe('API key', () => {
  test('| Format of new keys | Prefix sk-svc- followed by 64 hexadecimal characters |', async () => {
    const keys = await Promise.all(['a', 'b', 'c'].map((name) => createKey(gatehouse, name)))
    for (const { key } of keys) expect(key).toMatch(/^sk-svc-[0-9a-f]{64}$/)
    expect(new Set(keys.map(({ key }) => key)).size).toBe(3)
    // Hexadecimal on the whole length, not one character repeated.
    expect(new Set(keys.map(({ key }) => key.slice(7)).join('')).size).toBe(16)
  })

  describe('| Legacy formats | Keys beginning svc_ and legacy_ still validate. No rotation is needed |', () => {
    test.each(['svc_', 'legacy_'])('%s', async (prefix) => {
      const key = prefix + randomBytes(20).toString('base64url')
      expect(await statuses(key)).toEqual([401, 401])
      expect((await importKey(key)).status).toBe(201)
      expect(await statuses(key)).toEqual([200, 200])
    })

    test('a key with another prefix is refused', async () => {
      for (const prefix of ['sk-', 'svc-', 'legacy-', 'SVC_', 'old_svc_']) {
        const key = prefix + randomBytes(20).toString('hex')
        const response = await importKey(key)
        const text = await response.text()
        expect({ prefix, status: response.status }).toEqual({ prefix, status: 400 })
        expect(readFlatError(text).message).toContain('key')
        expect(text).not.toContain(key)
        expect(await statuses(key)).toEqual([401, 401])
      }
    })
  })

  test('| Name | A descriptive label entered at creation |', async () => {
    const name = 'CI of the Übersetzung team, staging'
    const { id, name: answered } = await createKey(gatehouse, name)
    expect(answered).toBe(name)
    expect((await rowOf(id)).name).toBe(name)
    for (const refused of [{}, { name: '' }, { name: 7 }, { name: null }]) {
      const response = await controlPlaneCall(gatehouse, 'POST', '/v1/keys', refused)
      expect({ refused, status: response.status }).toEqual({ refused, status: 400 })
      expect(readFlatError(await response.text()).message).toStartWith('name: ')
    }
  })

  test('| Visibility | The full key is displayed once, at creation. Afterwards only a masked prefix is displayed |', async () => {
    const { id, key, maskedPrefix } = await createKey(gatehouse, 'once')
    expect(maskedPrefix).toBe(`${key.slice(0, 11)}…`)
    const { text } = await listKeys()
    expect(text).toContain(maskedPrefix)
    // Not whole, and not in part beyond the prefix.
    expect(text).not.toContain(key.slice(0, 12))
    expect(text).not.toContain(key.slice(-12))
    expect((await rowOf(id)).maskedPrefix).toBe(maskedPrefix)
    expect(await rowOf(id)).not.toHaveProperty('key')
    for (const path of ['/v1/account', '/v1/logs', '/v1/audit-log']) {
      const response = await controlPlaneCall(gatehouse, 'GET', path)
      const shows = (await response.text()).includes(key.slice(0, 12))
      expect({ path, status: response.status, shows }).toEqual({ path, status: 200, shows: false })
    }
  })

  test('| Visibility | An imported key is displayed by its masked prefix too |', async () => {
    const key = `legacy_${randomBytes(20).toString('hex')}`
    const response = await importKey(key)
    const text = await response.text()
    expect(text).not.toContain(key)
    expect(JSON.parse(text)).toMatchObject({ maskedPrefix: `${key.slice(0, 11)}…` })
    expect((await listKeys()).text).not.toContain(key.slice(0, 12))
  })

  test('| Last used | A last-used time is tracked per key |', async () => {
    const [used, unused] = [
      await createKey(gatehouse, 'used'),
      await createKey(gatehouse, 'unused'),
    ]
    expect((await rowOf(used.id)).lastUsedAt).toBeNull()
    const before = Date.now()
    await statuses(used.key)
    const first = await pollUntil(
      'the last-used time',
      async () => (await rowOf(used.id)).lastUsedAt ?? false,
    )
    expect(Date.parse(first)).toBeWithin(before, Date.now() + 1)
    expect((await rowOf(unused.id)).lastUsedAt).toBeNull()
    await pollUntil('a later time', async () => {
      await statuses(used.key)
      return ((await rowOf(used.id)).lastUsedAt ?? '') > first
    })
  })

  test('| Multiplicity | Several active keys per account are allowed |', async () => {
    const [one, two, three] = [
      await createKey(gatehouse, 'same name'),
      await createKey(gatehouse, 'same name'),
      await createKey(gatehouse, 'another'),
    ]
    for (const { key } of [one, two, three]) expect(await statuses(key)).toEqual([200, 200])
    await deleteKey(gatehouse, two.id)
    expect(await statuses(two.key)).toEqual([401, 401])
    for (const { key } of [one, three]) expect(await statuses(key)).toEqual([200, 200])
  })

  describe('A provider key (bring-your-own-key) is a separate credential for a provider', () => {
    const put = (provider: string, key: string): Promise<Response> =>
      controlPlaneCall(gatehouse, 'PUT', `/v1/provider-keys/${provider}`, { key })
    const listed = async (): Promise<{ provider: string; maskedKey: string }[]> => {
      const response = await controlPlaneCall(gatehouse, 'GET', '/v1/provider-keys')
      return ((await response.json()) as { data: { provider: string; maskedKey: string }[] }).data
    }

    test('the format is provider-specific', async () => {
      const formats = {
        openai: 'sk-proj-planted_0123456789-abcdef',
        mistral: 'planted0123456789PLANTED',
        bedrock: 'AKIAPLANTED000000000:planted/secret+key=',
      }
      for (const [provider, key] of Object.entries(formats)) {
        expect({ provider, status: (await put(provider, key)).status }).toEqual({
          provider,
          status: 201,
        })
      }
      const providers = (await listed()).map(({ provider }) => provider)
      expect(providers.sort()).toEqual(Object.keys(formats).sort())
    })

    test('one is allowed per provider: another one takes its place', async () => {
      expect((await put('openai', 'sk-proj-planted-second-0000-wxyz')).status).toBe(200)
      const ofOpenai = (await listed()).filter(({ provider }) => provider === 'openai')
      expect(ofOpenai).toEqual([expect.objectContaining({ maskedKey: 'sk-…wxyz' })])
    })

    test('it opens nothing here', async () => {
      expect(await statuses('sk-proj-planted-second-0000-wxyz')).toEqual([401, 401])
    })
  })
})
