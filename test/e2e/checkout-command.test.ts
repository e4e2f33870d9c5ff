/** `bin/gatehouse`, the command of a checkout, as a shell starts it. */
import { expect, test } from 'bun:test'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { createTemporaryFolder } from '../support/temporary-folder.ts'

const COMMAND = resolve(import.meta.dir, '../../bin/gatehouse')

function run(command: string, folder: string) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([command, '--version'], { cwd: folder })
  return { exitCode, stdout: stdout.toString().trim(), stderr: stderr.toString() }
}

test('the command runs from any folder, also through links', async () => {
  const folder = await createTemporaryFolder()
  try {
    const deep = join(folder.path, 'a folder')
    await mkdir(deep)
    await symlink(COMMAND, join(deep, 'gatehouse'))
    await symlink('a folder/gatehouse', join(folder.path, 'gatehouse'))
    const answer = { exitCode: 0, stdout: packageJson.version, stderr: '' }
    for (const command of [COMMAND, join(deep, 'gatehouse'), join(folder.path, 'gatehouse')])
      expect(run(command, folder.path)).toEqual(answer)
  } finally {
    await folder.remove()
  }
})

test('a checkout without packages says how to install them', async () => {
  const folder = await createTemporaryFolder()
  try {
    await mkdir(join(folder.path, 'bin'))
    await cp(COMMAND, join(folder.path, 'bin/gatehouse'))
    const { exitCode, stderr } = run(join(folder.path, 'bin/gatehouse'), folder.path)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`make -C ${folder.path} install`)
  } finally {
    await folder.remove()
  }
})
