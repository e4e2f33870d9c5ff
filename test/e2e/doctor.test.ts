/**
 * `gatehouse doctor` on the server's machine: each thing that can be wrong is made wrong, and has
 * to be found.
 */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, open, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Examined, examine as examineWith, found } from '../support/examine.ts'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { testIf } from '../support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder
beforeEach(async () => {
  folder = await createTemporaryFolder()
  // Tests run as root may have any umask.
  await chmod(folder.path, 0o700)
})
afterEach(() => folder.remove())
const examine = (
  environment: Readonly<Record<string, string>> = {},
  how?: typeof runCli,
): Promise<Examined> => examineWith({ GATEHOUSE_DATA_DIR: folder.path, ...environment }, how)

const gate = (...words: string[]) =>
  runCliInProcess(['gates', ...words], { environment: { GATEHOUSE_DATA_DIR: folder.path } })

test('a new machine: nothing fails, nothing is created, and the output is readable', async () => {
  const missing = join(folder.path, 'not', 'yet')
  const examined = await examine({ GATEHOUSE_DATA_DIR: missing })
  expect(examined.exitCode).toBe(0)
  expect(found(examined, 'data folder', 'ok')).toContain('serve makes it')
  expect(found(examined, 'provider', 'warn')).toContain('_API_KEY')
  expect(stat(missing)).rejects.toThrow()
  const { stdout } = await runCli(['doctor'], {
    environment: { GATEHOUSE_DATA_DIR: missing, GATEHOUSE_PORT: '0' },
  })
  expect(stdout).toMatch(/^warn {2}provider {5}no provider has a key here\n {19}→ Set /m)
  expect(stdout).toMatch(/\d+ ok, 1 to look at, 0 failed\n$/)
})

test.each([
  [{}, "acct_default is the operator's"],
  [{ GATEHOUSE_DEFAULT_ACCOUNT: 'tenant' }, "acct_default is a customer's"],
] as [Record<string, string>, string][])(
  'with %j it tells whose the first account is',
  async (environment, told) => {
    expect(found(await examine(environment), 'accounts', 'ok')).toContain(told)
  },
)

describe('variables and runtime', () => {
  test('misspelt and risky ones are named', async () => {
    const examined = await examine({
      GATEHOUSE_PROT: '1',
      GATEHOUSE_SOMETHING_ELSE: 'planted',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    })
    const variables = found(examined, 'variables', 'warn')
    expect(variables).toContain(
      'GATEHOUSE_PROT is no setting, and nothing reads it → Did you mean GATEHOUSE_PORT?',
    )
    expect(variables).toContain('GATEHOUSE_SOMETHING_ELSE')
    expect(variables).toContain('NODE_TLS_REJECT_UNAUTHORIZED')
    expect(examined.said).not.toContain('planted')
    expect(examined.exitCode).toBe(0)
  })

  test.each([
    [{ GATEHOUSE_PORT: 'planted' }, 'GATEHOUSE_PORT'],
    [{ GATEHOUSE_MASTER_KEY: 'planted' }, 'GATEHOUSE_MASTER_KEY'],
    [{ GATEHOUSE_CONFIG: '/does/not/exist.yaml' }, 'GATEHOUSE_CONFIG'],
  ] as [Record<string, string>, string][])(
    '%p stops the start, and is reported',
    async (environment, name) => {
      const examined = await examine(environment)
      expect(found(examined, 'settings', 'fail')).toContain(name)
    },
  )

  test('too few open files are reported', async () => {
    const { PATH = '', HOME = '' } = process.env
    const child = Bun.spawn(
      ['sh', '-c', 'ulimit -n 512 && exec "$0" src/main.ts doctor', process.execPath],
      {
        env: { PATH, HOME, GATEHOUSE_DATA_DIR: folder.path, GATEHOUSE_PORT: '0' },
        stdout: 'pipe',
      },
    )
    const said = await new Response(child.stdout).text()
    if (process.platform === 'linux') expect(said).toContain('512 files')
  })
})

describe('the data folder', () => {
  test('that is a file fails', async () => {
    const path = join(folder.path, 'file')
    await Bun.write(path, '')
    const examined = await examine({ GATEHOUSE_DATA_DIR: path }, runCli)
    expect(found(examined, 'data folder', 'fail')).toContain(`${path} is not a folder`)
    const below = await examine({ GATEHOUSE_DATA_DIR: join(path, 'data') })
    expect(found(below, 'data folder', 'fail')).toContain('cannot be created')
  })

  testIf(process.getuid?.() !== 0, 'needs another user than root')(
    'that cannot be written fails',
    async () => {
      await chmod(folder.path, 0o500)
      const examined = await examine()
      await chmod(folder.path, 0o700)
      expect(found(examined, 'data folder', 'fail')).toContain('EACCES')
    },
  )

  test('with access for others is reported with the command', async () => {
    await gate('list')
    await chmod(folder.path, 0o777)
    await chmod(join(folder.path, 'gatehouse.db'), 0o644)
    const examined = await examine()
    const said = found(examined, 'data folder', 'warn')
    expect(said).toContain(`chmod 700 ${folder.path}`)
    expect(said).toContain(`chmod 600 ${join(folder.path, 'gatehouse.db')}`)
  })

  test('with workers has their journals checked too, and their requirements', async () => {
    const journal = join(folder.path, 'workers', '1', 'journal')
    await mkdir(journal, { recursive: true })
    const file = await open(join(journal, '000000000001.journal'), 'w')
    await file.truncate(65 * 1024 * 1024)
    await file.close()
    const examined = await examine({ GATEHOUSE_WORKERS: '2' })
    expect(found(examined, 'journal', 'warn')).toContain('65.0 MiB in 1 segments')
    expect(found(examined, 'workers', 'fail')).toContain('REDIS_URL')
  })

  test('with a waiting or damaged journal is reported', async () => {
    const journal = join(folder.path, 'journal')
    await mkdir(journal)
    await Bun.write(join(journal, '000000000001.journal.damaged'), 'x')
    const file = await open(join(journal, '000000000002.journal'), 'w')
    await file.truncate(65 * 1024 * 1024)
    await file.close()
    const said = found(await examine(), 'journal', 'warn')
    expect(said).toContain('65.0 MiB in 1 segments')
    expect(said).toContain('1 segments hold lines')
  })
})

describe('the database', () => {
  test('that is not a database fails', async () => {
    await Bun.write(
      join(folder.path, 'gatehouse.db'),
      'not a database, but as long as a header would be, and more of it',
    )
    const examined = await examine()
    expect(found(examined, 'database', 'fail')).toMatch(/damaged.*backup/)
  })

  test('that is damaged in the middle fails', async () => {
    for (const id of ['a', 'b']) await gate('create', id, '--target', 'sandbox/echo')
    const path = join(folder.path, 'gatehouse.db')
    const file = await open(path, 'r+')
    const { size } = await file.stat()
    await file.write(Buffer.alloc(size - 8192, 0x5a), 0, size - 8192, 8192)
    await file.close()
    expect(found(await examine(), 'database', 'fail')).toMatch(/damaged.*backup/)
  })

  test('of a newer version fails', async () => {
    await gate('list')
    const database = new Database(join(folder.path, 'gatehouse.db'))
    database.run("INSERT INTO kysely_migration (name, timestamp) VALUES ('9999_later', '')")
    database.close()
    expect(found(await examine(), 'database', 'fail')).toContain('9999_later')
  })

  test('with additions of a newer version can be served, and one that needs all of it is refused', async () => {
    await gate('list')
    const database = new Database(join(folder.path, 'gatehouse.db'))
    database.run("INSERT INTO kysely_migration (name, timestamp) VALUES ('9999_later', '')")
    database.run("INSERT INTO schema_step_notes (name, needs) VALUES ('9999_later', NULL)")
    database.close()
    expect(found(await examine(), 'database', 'warn')).toMatch(/9999_later.*Finish the upgrade/)
    expect((await gate('list')).exitCode).toBe(0)
    const environment = {
      GATEHOUSE_DATA_DIR: folder.path,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    }
    const copied = await runCliInProcess(['store', 'copy'], { environment })
    expect(copied.exitCode).not.toBe(0)
    expect(copied.stderr).toMatch(/9999_later.*Copy the database with that version/)
    const rotated = await runCliInProcess(['master-key', 'rotate'], {
      environment: { GATEHOUSE_DATA_DIR: folder.path },
    })
    expect(rotated.exitCode).not.toBe(0)
    expect(rotated.stderr).toMatch(/9999_later.*Rotate with that version/)
  })
})

describe('the master key', () => {
  beforeEach(async () => {
    const set = await runCliInProcess(['provider-keys', 'set', 'sandbox'], {
      environment: { GATEHOUSE_DATA_DIR: folder.path },
      input: 'sk-planted-0123456789',
    })
    expect(set.exitCode).toBe(0)
  })
  const path = () => join(folder.path, 'master.key')

  test('that works is reported, and never shown', async () => {
    const examined = await examine()
    expect(found(examined, 'master key', 'ok')).toContain('opens everything')
    const key =
      (await Bun.file(path()).text()).split('\n').find((line) => /^[0-9a-f]{64}$/.test(line)) ?? '?'
    expect(examined.said).not.toContain(key)
    expect(examined.said).not.toContain('planted')
  })

  test('with access for others is reported with the command, and one from elsewhere fails', async () => {
    await chmod(path(), 0o644)
    expect(found(await examine(), 'master key', 'warn')).toContain(`chmod 600 ${path()}`)
    // Nothing is changed by it.
    expect((await stat(path())).mode & 0o777).toBe(0o644)
    const elsewhere = join(folder.path, 'elsewhere.key')
    await rename(path(), elsewhere)
    await symlink(elsewhere, path())
    expect(found(await examine(), 'master key', 'fail')).toContain('defaultMode: 0400')
    await chmod(elsewhere, 0o440)
    expect(found(await examine(), 'master key', 'warn')).toContain(elsewhere)
  })

  test('that is wrong or empty fails', async () => {
    const other = await examine({ GATEHOUSE_MASTER_KEY: 'c0ffee00'.repeat(8) })
    expect(found(other, 'master key', 'fail')).toContain('2 stored credentials cannot be decrypted')
    expect(other.said).not.toContain('c0ffee')
    await Bun.write(path(), 'planted\n')
    const broken = await examine()
    expect(found(broken, 'master key', 'fail')).toContain(path())
    expect(broken.said).not.toContain('planted')
  })
})

test('a configuration file that the server had and that is gone fails, and one that is back does not', async () => {
  const path = join(folder.path, 'gatehouse.yaml')
  const record = JSON.stringify({ path, digest: 'of the last start' })
  await writeFile(join(folder.path, 'configuration.json'), record)
  expect(found(await examine(), 'settings', 'fail')).toContain(
    `the configuration file ${path} is gone or empty`,
  )
  await writeFile(path, 'plans: {default: pro}\n')
  expect(found(await examine(), 'settings', 'fail')).toBe('')
})

test('a port in use by another program fails, unless it is port 0', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const examined = await examine({ GATEHOUSE_PORT: String(port) })
  taken.close()
  expect(found(examined, 'port', 'fail')).toMatch(/EADDRINUSE.*GATEHOUSE_PORT/)
  const elsewhere = await examine({ GATEHOUSE_PORT: String(port), GATEHOUSE_HOST: '192.0.2.1' })
  expect(found(elsewhere, 'port', 'fail')).toMatch(/GATEHOUSE_HOST/)
})

test('gates without a working target fail, and those with another target are reported', async () => {
  await gate('create', 'well', '--target', 'sandbox/echo')
  await gate('create', 'half', '--target', 'openai/gpt-5', '--target', 'sandbox/echo')
  await gate('create', 'dead', '--target', 'openai/gpt-5')
  const database = new Database(join(folder.path, 'gatehouse.db'))
  database.run(`UPDATE gates SET targets = '[{"model":"gone/x"}]' WHERE id = 'well'`)
  database.close()
  const examined = await examine()
  expect(found(examined, 'gates', 'warn')).toContain('half: openai/gpt-5 has no key')
  expect(found(examined, 'gates', 'fail')).toMatch(
    /dead: openai\/gpt-5 has no key.*provider-keys set openai/,
  )
  expect(found(examined, 'gates', 'fail')).toContain(
    'well: gone/x names a provider that is not known',
  )
  await runCliInProcess(['provider-keys', 'set', 'openai'], {
    environment: { GATEHOUSE_DATA_DIR: folder.path },
    input: 'sk-own-0123456789',
  })
  expect(found(await examine(), 'gates', 'fail')).not.toContain('openai')
})
