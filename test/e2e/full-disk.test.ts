/** The whole gateway on a disk that fills up and is freed again: refused clearly, nothing lost, no restart. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitForLogRow } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const canMount = await tryMount()
if (!canMount) process.stderr.write('SKIPPED: a disk that fills up needs the permission to mount a tmpfs.\n')

describe.skipIf(!canMount)('a full disk', () => {
  let folder: TemporaryFolder
  let gatehouse: Awaited<ReturnType<typeof startGatehouse>>
  beforeAll(async () => {
    folder = await createTemporaryFolder()
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder.path])
    gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path })
  })
  afterAll(async () => {
    await gatehouse.kill()
    Bun.spawnSync(['umount', '-l', folder.path])
    await folder.remove()
  })

  const call = () =>
    fetch(`${gatehouse.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
      body: '{"model":"demo","input":"hi"}',
    })
  const readiness = async () => {
    const response = await fetch(`${gatehouse.url}/readyz`)
    return { status: response.status, body: await response.text() }
  }

  test("calls are refused with 503 in the caller's envelope, /readyz says why, and both recover by themselves", async () => {
    expect((await call()).status).toBe(200)
    const ballast = join(folder.path, 'ballast')
    fill(ballast)
    const refused = await pollUntil('a refusal', async () => {
      const response = await call()
      return response.status === 200 ? undefined : response
    })
    expect(refused.status).toBe(503)
    const { error } = (await refused.json()) as { error: { type: string; code: string; message: string } }
    expect(error).toMatchObject({ type: 'server_error', code: 'unavailable' })
    expect(error.message).not.toContain(folder.path)
    expect(await readiness()).toMatchObject({ status: 503 })
    expect((await readiness()).body).toContain('no space')

    rmSync(ballast)
    const served = await pollUntil('an answer', async () => {
      const response = await call()
      return response.status === 200 ? response : undefined
    })
    expect(await waitForLogRow(gatehouse, served.headers.get('x-request-id') ?? '')).toMatchObject({
      outcome: 'succeeded',
    })
    expect((await readiness()).status).toBe(200)
  })
})

/** Writes until not a byte more fits. */
function fill(path: string): void {
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    for (;;) {
      try {
        writeFileSync(path, new Uint8Array(size), { flag: 'a' })
      } catch {
        break // Full for this size; a smaller piece may still fit.
      }
    }
  }
}

async function tryMount(): Promise<boolean> {
  if (process.platform !== 'linux' || Bun.which('mount') === null) return false
  const folder = await createTemporaryFolder()
  const isMounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder.path]).success
  if (isMounted) Bun.spawnSync(['umount', folder.path])
  await folder.remove()
  return isMounted
}
