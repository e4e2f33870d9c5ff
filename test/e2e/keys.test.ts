/** The life of an API key: made, shown once, used, imported, deleted at once. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { controlPlaneCall, createKey, deleteKey } from '../support/control-plane.ts'
import { readFlatError } from '../support/envelopes.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// A test that outlasts its time has its server killed by the runner, and with it every test that
// follows.
setDefaultTimeout(180_000)

let gatehouse: Gatehouse
let folder: TemporaryFolder
let everything = ''
const secrets: string[] = []

beforeAll(async () => {
  folder = await createTemporaryFolder()
  gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path })
})
afterAll(async () => {
  await gatehouse.remove()
  await folder.remove()
})

function callWith(key: string): Promise<Response> {
  return fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ gate_id: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
  })
}

async function statusWith(key: string): Promise<number> {
  const response = await callWith(key)
  await response.arrayBuffer()
  return response.status
}

async function restart(): Promise<void> {
  await gatehouse.kill()
  everything += gatehouse.output()
  gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path, key: gatehouse.key })
}

async function importKey(name: string, key: string): Promise<Response> {
  secrets.push(key)
  return await controlPlaneCall(gatehouse, 'POST', '/v1/keys/import', { name, key })
}

async function listKeys(): Promise<{
  text: string
  data: { id: string; name: string; lastUsedAt: string | null }[]
}> {
  const text = await (await controlPlaneCall(gatehouse, 'GET', '/v1/keys')).text()
  return {
    text,
    ...(JSON.parse(text) as { data: { id: string; name: string; lastUsedAt: string | null }[] }),
  }
}

describe('new keys', () => {
  test('have the stated form, are shown once, and open both planes', async () => {
    const created = await createKey(gatehouse, 'ci')
    secrets.push(created.key)
    expect(created.key).toMatch(/^sk-svc-[0-9a-f]{64}$/)
    expect(created.maskedPrefix).toBe(`${created.key.slice(0, 11)}…`)
    const list = await listKeys()
    expect(list.data.map((key) => key.name)).toContain('ci')
    expect(list.text).not.toContain(created.key)
    expect(await statusWith(created.key)).toBe(200)
    const asNewKey = { url: gatehouse.url, key: created.key }
    expect((await controlPlaneCall(asNewKey, 'GET', '/v1/gates')).status).toBe(200)
  })

  test('differ', async () => {
    const keys = [await createKey(gatehouse, 'a'), await createKey(gatehouse, 'a')]
    secrets.push(...keys.map((key) => key.key))
    expect(new Set(keys.map((key) => key.key)).size).toBe(2)
  })

  test('authenticate in any spelling of the scheme, and only whole', async () => {
    const { key } = await createKey(gatehouse, 'spelling')
    secrets.push(key)
    const status = async (authorization: string): Promise<number> => {
      const response = await fetch(`${gatehouse.url}/v1/models`, { headers: { authorization } })
      await response.arrayBuffer()
      return response.status
    }
    expect(await status(`bearer ${key}`)).toBe(200)
    expect(await status(`Bearer ${key.slice(0, -1)}`)).toBe(401)
    expect(await status(`Bearer ${key}0`)).toBe(401)
    expect(await status(key)).toBe(401)
  })

  test('have a last-used time after their first use', async () => {
    const created = await createKey(gatehouse, 'used')
    secrets.push(created.key)
    const find = async (): Promise<string | null> =>
      (await listKeys()).data.find((key) => key.id === created.id)?.lastUsedAt ?? null
    expect(await find()).toBeNull()
    await statusWith(created.key)
    const lastUsedAt = await pollUntil(
      'the last-used time',
      async () => (await find()) ?? undefined,
    )
    expect(Number.isNaN(Date.parse(lastUsedAt))).toBeFalse()
  })
})

describe('a deleted key', () => {
  test('is refused by the very next call, twenty times in a row', async () => {
    for (let round = 0; round < 20; round++) {
      const created = await createKey(gatehouse, 'short-lived')
      secrets.push(created.key)
      expect(await statusWith(created.key)).toBe(200)
      await deleteKey(gatehouse, created.id)
      expect(await statusWith(created.key)).toBe(401)
      const asDeleted = { url: gatehouse.url, key: created.key }
      expect((await controlPlaneCall(asDeleted, 'GET', '/v1/gates')).status).toBe(401)
    }
  })

  test('is refused while many calls use it', async () => {
    const created = await createKey(gatehouse, 'busy')
    secrets.push(created.key)
    let deleted = false
    const wrong: number[] = []
    let calls = 0
    const caller = async (): Promise<void> => {
      for (;;) {
        const begunAfterDelete = deleted
        const status = await statusWith(created.key)
        calls += 1
        if (begunAfterDelete) {
          if (status !== 401) wrong.push(status)
          return
        }
      }
    }
    const callers = Array.from({ length: 8 }, caller)
    await pollUntil('calls of all of them', () => calls > 3 * callers.length)
    await deleteKey(gatehouse, created.id)
    deleted = true
    await Promise.all(callers)
    expect(wrong).toEqual([])
  })

  test('stays deleted after a crash', async () => {
    const created = await createKey(gatehouse, 'gone')
    const kept = await createKey(gatehouse, 'kept')
    secrets.push(created.key, kept.key)
    await deleteKey(gatehouse, created.id)
    await restart()
    expect(await statusWith(created.key)).toBe(401)
    expect(await statusWith(kept.key)).toBe(200)
  })

  test('cannot be deleted again', async () => {
    const created = await createKey(gatehouse, 'twice')
    await deleteKey(gatehouse, created.id)
    const response = await controlPlaneCall(gatehouse, 'DELETE', `/v1/keys/${created.id}`)
    expect(response.status).toBe(404)
    readFlatError(await response.text())
  })
})

describe('legacy keys', () => {
  test.each(['svc_', 'legacy_'])(
    '%s… authenticate once imported, even after a crash',
    async (prefix) => {
      const key = `${prefix}${randomBytes(16).toString('hex')}`
      expect(await statusWith(key)).toBe(401)
      const response = await importKey(`old ${prefix}`, key)
      const text = await response.text()
      expect(response.status).toBe(201)
      expect(text).not.toContain(key)
      expect(await statusWith(key)).toBe(200)
      await restart()
      expect(await statusWith(key)).toBe(200)
      const { id } = JSON.parse(text) as { id: string }
      await deleteKey(gatehouse, id)
      expect(await statusWith(key)).toBe(401)
    },
  )

  test('cannot be imported twice', async () => {
    const key = `svc_${randomBytes(16).toString('hex')}`
    expect((await importKey('first', key)).status).toBe(201)
    const again = await importKey('second', key)
    expect(again.status).toBe(409)
    expect(readFlatError(await again.text()).error).toBe('conflict')
  })

  test.each([
    '',
    'svc_',
    'legacy_short',
    'sk-other-0123456789abcdef',
    'svc_with space inside',
    'svc_caf\u00e9-0123456789',
  ])('%p is refused as a key to import', async (key) => {
    const response = await controlPlaneCall(gatehouse, 'POST', '/v1/keys/import', {
      name: 'bad',
      key,
    })
    expect(response.status).toBe(400)
    const text = await response.text()
    readFlatError(text)
    if (key.length > 8) expect(text).not.toContain(key)
  })
})

test('the bootstrap key is one key, however often the server starts with it', async () => {
  const before = (await listKeys()).data.length
  await restart()
  await restart()
  expect((await listKeys()).data.length).toBe(before)
})

test('no key is in any output of the process, or in its data folder', async () => {
  await gatehouse.stop()
  everything += gatehouse.output()
  const files = await Array.fromAsync(
    new Bun.Glob('**/*').scan({ cwd: folder.path, dot: true, absolute: true }),
  )
  const written = await Promise.all(files.map((file) => Bun.file(file).text()))
  expect(files.length).toBeGreaterThan(0)
  for (const secret of [gatehouse.key, ...secrets]) {
    expect(everything.includes(secret)).toBeFalse()
    expect(written.some((text) => text.includes(secret))).toBeFalse()
  }
})
