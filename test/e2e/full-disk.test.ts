/**
 * The whole gateway on a disk that fills up and is freed again: refused clearly, nothing lost, no
 * restart.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { boundToTest } from '../support/bound-to-test.ts'
import { controlPlaneCall, waitForLogRow } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { PROGRAM } from '../support/program.ts'
import { describeIf } from '../support/skip-unless.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const canMount = tryMount()
if (!canMount)
  process.stderr.write('SKIPPED: a disk that fills up needs the permission to mount a tmpfs.\n')

describeIf(canMount, 'needs the permission to mount a tmpfs')('a full disk', () => {
  let folder: TemporaryFolder
  let gatehouse: Gatehouse
  /** The disk as the server sees it. */
  let disk: string
  beforeAll(async () => {
    folder = await createTemporaryFolder()
    const command = onOwnDisk(folder.path, '8m', PROGRAM)
    gatehouse = await startGatehouse({ sandbox: true, dataFolder: folder.path, command })
    disk = join(`/proc/${gatehouse.pid}/root`, folder.path)
  })
  afterAll(async () => {
    await gatehouse?.remove()
    await folder?.remove()
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

  test('makes calls 503 in their envelope and /readyz not ready with the reason, and both recover', async () => {
    expect((await call()).status).toBe(200)
    const ballast = join(disk, 'ballast')
    fill(ballast)
    const refused = await pollUntil('a refusal', async () => {
      const response = await call()
      return response.status === 200 ? undefined : response
    })
    expect(refused.status).toBe(503)
    const { error } = (await refused.json()) as {
      error: { type: string; code: string; message: string }
    }
    expect(error).toMatchObject({ type: 'server_error', code: 'unavailable' })
    expect(error.message).not.toContain(folder.path)
    expect(await readiness()).toMatchObject({ status: 503 })
    expect((await readiness()).body).toContain('no space')

    // The database has no room either: no client sees an internal error, and the log says why.
    const unchanged = await pollUntil('a refused change', async () => {
      const response = await controlPlaneCall(gatehouse, 'POST', '/v1/keys', {
        name: 'late '.repeat(20),
      })
      return response.status === 201 ? undefined : response
    })
    expect(unchanged.status).toBe(503)
    expect(await unchanged.json()).toMatchObject({ error: 'unavailable' })
    await pollUntil('the reason in the log', () =>
      /SQLITE_FULL|SQLITE_IOERR/.test(gatehouse.output()),
    )
    expect(gatehouse.output()).not.toContain('cannot rollback')

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

  test('with the log on it ends no process, and what waited is in the log once there is room', async () => {
    const work = await createTemporaryFolder()
    const logged = ['sh', '-c', 'exec "$@" 2>> "$0/log"', work.path, ...PROGRAM]
    const node = await startGatehouse({ command: onOwnDisk(work.path, '64k', logged) })
    const own = join(`/proc/${node.pid}/root`, work.path)
    const log = () => readFileSync(join(own, 'log'), 'utf8')
    try {
      const ballast = join(own, 'ballast')
      await pollUntil('a log', () => log().includes('"msg":"ready"'))
      fill(ballast)
      // The file's last page has room of its own.
      fill(join(own, 'log'))
      const before = log().length
      const told = () => log().slice(before)
      const isServing = async () => (await fetch(`${node.url}/healthz`)).ok
      node.signal('SIGHUP')
      for (let looks = 0; looks < 20; looks += 1) {
        expect(await isServing()).toBe(true)
        await Bun.sleep(50)
      }
      expect(told()).toBe('')

      rmSync(ballast)
      node.signal('SIGHUP')
      await pollUntil('both reloads in the log', () => told().split('was reloaded').length > 2)
      expect(await isServing()).toBe(true)
    } finally {
      await node.remove()
      await work.remove()
    }
  })

  test('with both outputs on it keeps no gateway from starting that has nothing to show', async () => {
    const work = await createTemporaryFolder()
    const { PATH = '', HOME = '' } = process.env
    const child = Bun.spawn(
      boundToTest(['sh', '-c', 'exec "$@" > /dev/full 2>&1', 'sh', ...PROGRAM, 'serve']),
      {
        env: {
          PATH,
          HOME,
          GATEHOUSE_PORT: '0',
          GATEHOUSE_DATA_DIR: work.path,
          GATEHOUSE_BOOTSTRAP_KEY: createBootstrapKey(),
        },
      },
    )
    try {
      const told = join(work.path, 'server.json')
      await pollUntil('an address', () => child.exitCode !== null || existsSync(told))
      const { url } = JSON.parse(readFileSync(told, 'utf8')) as { url: string }
      for (let looks = 0; looks < 20; looks += 1) {
        expect((await fetch(`${url}/healthz`)).ok).toBe(true)
        await Bun.sleep(50)
      }
    } finally {
      child.kill('SIGTERM')
      expect(await child.exited).toBe(0)
      await work.remove()
    }
  })

  test('makes a start fail with a request for room, and not for a backup', async () => {
    const work = await createTemporaryFolder()
    const serve = [...PROGRAM, 'serve', '--sandbox', '--port', '0']
    const { PATH = '', HOME = '' } = process.env
    const child = Bun.spawn(onOwnDisk(work.path, '8k', serve), {
      env: { PATH, HOME, GATEHOUSE_DATA_DIR: work.path },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const told = await new Response(child.stderr).text()
    expect(told).toContain('Free some')
    expect(told).not.toContain('backup')
    expect(await child.exited).toBe(1)
    await work.remove()
  })

  test('makes a start on what is there already fail with a request for room too', async () => {
    const work = await createTemporaryFolder()
    const shell = `"$@" users list 2>&1; head -c 8m /dev/zero > "$0/ballast"
      "$@" serve --port 0 2>&1; echo code $?`
    const command = onOwnDisk(work.path, '4m', ['sh', '-c', shell, work.path, ...PROGRAM])
    const { PATH = '', HOME = '' } = process.env
    const env = { PATH, HOME, GATEHOUSE_DATA_DIR: work.path }
    const child = Bun.spawn(command, { env, stdout: 'pipe', stderr: 'ignore' })
    const told = await new Response(child.stdout).text()
    expect(told).toContain('no room')
    expect(told).not.toContain('backup')
    expect(told).toEndWith('code 1\n')
    await work.remove()
  })

  test('a pulled configuration without room leaves the old file, and no part of the new one', async () => {
    const work = await createTemporaryFolder()
    const before = 'version: 1\n'
    const shell = `cd "$0" && head -c 64k /dev/zero > ballast; "$@" config pull; echo code $?; ls
      printf '${before}' | dd of=ballast conv=notrunc status=none && mv ballast gatehouse.config.yaml
      "$@" config pull; echo code $?; ls`
    const command = onOwnDisk(work.path, '64k', ['sh', '-c', shell, work.path, ...PROGRAM])
    const { PATH = '', HOME = '' } = process.env
    const child = Bun.spawn(command, {
      env: { PATH, HOME, GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toBe(
      'code 1\nballast\ncode 1\ngatehouse.config.yaml\n',
    )
    expect(await new Response(child.stderr).text()).toContain('ENOSPC')
    await work.remove()
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

/** Mounted where nobody else sees it, and gone with the command, whatever ends it. */
function onOwnDisk(folder: string, size: string, command: readonly string[]): string[] {
  const script = 'mount -t tmpfs -o "size=$1" tmpfs "$0" && shift && exec "$@"'
  const isolated = ['unshare', '--mount', '--propagation', 'private']
  return [...isolated, 'sh', '-c', script, folder, size, ...command]
}

function tryMount(): boolean {
  if (process.platform !== 'linux' || Bun.which('unshare') === null) return false
  return Bun.spawnSync(onOwnDisk(tmpdir(), '64k', ['true'])).success
}
