/**
 * A data folder that was restored with another owner: the start says what it may not use and whose
 * that is. Root may use everything, so the program runs as somebody else.
 */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { boundToTest } from '../support/bound-to-test.ts'
import { STRANGER } from '../support/confined.ts'
import { PROGRAM } from '../support/program.ts'
import { describeIf } from '../support/skip-unless.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const OWNER = 23_456

let folder: TemporaryFolder
beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(() => folder.remove())

/** As a user without a name; ended as soon as it serves. */
async function startAsStranger(): Promise<{ code: number; output: string; errors: string }> {
  const ids = ['--reuid', String(STRANGER), '--regid', String(STRANGER), '--clear-groups']
  const child = Bun.spawn(['setpriv', ...ids, ...boundToTest([...PROGRAM, 'serve'])], {
    cwd: '/',
    env: {
      PATH: process.env.PATH ?? '',
      GATEHOUSE_PORT: '0',
      GATEHOUSE_DATA_DIR: folder.path,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let output = ''
  const read = (async () => {
    for await (const piece of child.stdout) {
      output += Buffer.from(piece).toString()
      if (output.includes('listening on')) child.kill('SIGTERM')
    }
  })()
  const [errors, code] = await Promise.all([child.stderr.text(), child.exited, read])
  return { code, output, errors }
}

function give(uid: number, ...names: readonly string[]): void {
  for (const name of names) chownSync(join(folder.path, name), uid, uid)
}

const everything = () => ['.', ...(readdirSync(folder.path, { recursive: true }) as string[])]

describeIf(process.platform === 'linux' && process.getuid?.() === 0, 'needs root on Linux')(
  'a data folder that belongs to another user',
  () => {
    beforeEach(async () => {
      const gatehouse = await startGatehouse({ dataFolder: folder.path })
      await gatehouse.stop()
      chmodSync(folder.path, 0o700)
      for (const name of everything()) {
        const path = join(folder.path, name)
        if (statSync(path).isFile()) chmodSync(path, 0o600)
      }
    })

    test('is named with its owner, EACCES and the cure', async () => {
      give(OWNER, ...everything())
      const { code, output, errors } = await startAsStranger()
      expect({ code, output }).toEqual({ code: 1, output: '' })
      expect(errors).toContain(`The data folder ${folder.path} cannot be used (EACCES)`)
      expect(errors).toContain(`belongs to user ${OWNER}`)
      expect(errors).toContain(`chown -R ${STRANGER} ${folder.path}`)
      expect(errors).not.toContain('backup')
    })

    test.each(['gatehouse.db', 'gatehouse.lock', 'installation.json', 'journal'])(
      'in part, as a command of root leaves it: %s is named',
      async (name) => {
        give(STRANGER, ...everything())
        give(OWNER, name)
        const { code, errors } = await startAsStranger()
        expect(code).toBe(1)
        expect(errors).toContain(`${join(folder.path, name)} belongs to user ${OWNER}`)
        expect(errors).not.toContain('backup')
      },
    )

    test('is no reason for a command to speak of backups', async () => {
      give(STRANGER, ...everything())
      give(OWNER, 'gatehouse.db')
      const ids = ['--reuid', String(STRANGER), '--regid', String(STRANGER), '--clear-groups']
      const child = Bun.spawn(['setpriv', ...ids, ...PROGRAM, 'master-key', 'status'], {
        cwd: '/',
        env: { PATH: process.env.PATH ?? '', GATEHOUSE_DATA_DIR: folder.path },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'pipe',
      })
      const errors = await child.stderr.text()
      expect(await child.exited).toBe(1)
      expect(errors).toContain('belongs to another user')
      expect(errors).not.toContain('backup')
    })

    test('is used with a master key and a configuration file that can only be read', async () => {
      const mount = await createTemporaryFolder()
      chmodSync(mount.path, 0o755)
      give(STRANGER, ...everything())
      for (const [name, text] of [
        ['master.key', readFileSync(join(folder.path, 'master.key'), 'utf8')],
        ['gatehouse.yaml', 'logLevel: info\n'],
      ] as const) {
        const file = join(mount.path, name)
        writeFileSync(file, text)
        chownSync(file, 0, STRANGER)
        chmodSync(file, 0o440)
        rmSync(join(folder.path, name), { force: true })
        symlinkSync(file, join(folder.path, name))
      }
      const { code, output, errors } = await startAsStranger()
      expect({ code, errors }).toMatchObject({ code: 0 })
      expect(output).toContain('listening on')
      expect(errors).toContain('may read the master key')
      await mount.remove()
    })

    test('is used once it has been given to the user that serves', async () => {
      give(STRANGER, ...everything())
      const { code, output } = await startAsStranger()
      expect(code).toBe(0)
      expect(output).toContain('listening on')
    })
  },
)
