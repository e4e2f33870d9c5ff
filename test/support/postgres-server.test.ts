import { expect } from 'bun:test'
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from './is-running.ts'
import { pollUntil } from './poll-until.ts'
import { findPostgres } from './postgres-server.ts'
import { testIf } from './skip-unless.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

const PATIENCE = { timeoutMs: 60_000, intervalMs: 100 }

testIf(findPostgres() !== undefined, 'needs Postgres')(
  'a server and its folder are gone after the test process was killed',
  async () => {
    const folder = await createTemporaryFolder()
    chmodSync(folder.path, 0o755)
    const script = `
      import { startPostgres } from ${JSON.stringify(join(import.meta.dir, 'postgres-server.ts'))}
      await startPostgres()
      process.stdout.write('started')
      setInterval(() => {}, 1000)`
    const child = Bun.spawn([process.execPath, '-e', script], {
      stdout: 'pipe',
      stderr: 'inherit',
      env: { ...process.env, TMPDIR: folder.path },
    })
    try {
      const { value } = await child.stdout.getReader().read()
      expect(new TextDecoder().decode(value)).toBe('started')
      const [name = ''] = readdirSync(folder.path)
      const pid = Number(
        (await Bun.file(join(folder.path, name, 'data', 'postmaster.pid')).text()).split('\n')[0],
      )
      expect(isRunning(pid)).toBe(true)
      child.kill('SIGKILL')
      await pollUntil('the end of the server', () => !isRunning(pid), PATIENCE)
      await pollUntil('the end of its folder', () => !existsSync(join(folder.path, name)), PATIENCE)
    } finally {
      child.kill('SIGKILL')
      await folder.remove()
    }
  },
  120_000,
)
