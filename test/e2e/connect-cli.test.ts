/** `gatehouse connect` and `gatehouse token`, from an empty home folder and beside settings. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const FILES = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/config.toml',
  opencode: '.config/opencode/opencode.json',
} as const
const clients = Object.entries(FILES)
const TOKEN_FILE = '.config/gatehouse/token'

let gatehouse: Gatehouse
let folder: TemporaryFolder
let token: string
let home: string
beforeAll(async () => {
  folder = await createTemporaryFolder()
  gatehouse = await startGatehouse({ sandbox: true })
  const environment = { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key }
  const made = await runCliInProcess(['tokens', 'create', 'agent'], { environment })
  token = made.stdout.trim()
  const bad = ['gates', 'create', 'broken', '--target', 'sandbox/429']
  expect((await runCliInProcess(bad, { environment })).exitCode).toBe(0)
})
afterAll(async () => {
  await gatehouse.stop()
  await folder.remove()
})
beforeEach(async () => {
  home = await mkdtemp(join(folder.path, 'home-'))
})

function run(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const access = { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_TOKEN: token }
  return runCliInProcess(words, { environment: { HOME: home, ...access, ...environment } })
}

const connect = (client: string, ...more: string[]) =>
  run(['connect', client, '--gate', 'demo', '--yes', ...more])
const read = (file: string) => readFile(join(home, file), 'utf8')
async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(home, file)), { recursive: true })
  await writeFile(join(home, file), text)
}

test.each(clients)('%s is connected from an empty home folder, and undone', async (name, file) => {
  const connected = await connect(name)
  expect(connected).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('works') })
  const text = await read(file)
  expect(text).toContain(gatehouse.url)
  expect(text + connected.stdout + connected.stderr).not.toContain(token)
  expect((await stat(join(home, TOKEN_FILE))).mode & 0o777).toBe(0o600)
  expect((await run(['token'])).stdout).toBe(`${token}\n`)
  expect((await run(['connect', name, '--undo', '--yes'])).exitCode).toBe(0)
  expect([existsSync(join(home, file)), existsSync(join(home, TOKEN_FILE))]).toEqual([false, false])
  expect((await run(['token'])).exitCode).toBe(4)
})

const EXISTING = {
  'claude-code':
    '{\n\t"theme": "dark",\n\t"env": { "ANTHROPIC_API_KEY": "sk-planted-secret", "OTHER": "1" }\n}\n',
  codex: '# mine\nmodel = "other"\napproval_policy = "never"\n\n[tui]\n# loud\nmodel = "kept"\n',
  opencode: '{"theme": "dark", "provider": {"mine": {"name": "Mine"}}}',
} as const

test.each(clients)('%s keeps the other settings of its file', async (name, file) => {
  const before = EXISTING[name as keyof typeof EXISTING]
  await write(file, before)
  const { exitCode, stderr } = await connect(name)
  expect(exitCode).toBe(0)
  expect(stderr).toContain('+ ')
  expect(stderr).not.toContain('planted')
  const text = await read(file)
  if (name === 'codex') {
    for (const line of ['# mine', 'approval_policy = "never"', '# loud', 'model = "kept"'])
      expect(text).toContain(line)
    expect(Bun.TOML.parse(text)).toMatchObject({ model: 'demo', model_provider: 'gatehouse' })
  } else expect(JSON.parse(text)).toMatchObject({ theme: 'dark' })
  if (name === 'claude-code')
    expect(JSON.parse(text).env).toEqual({
      OTHER: '1',
      ANTHROPIC_BASE_URL: gatehouse.url,
      ANTHROPIC_MODEL: 'demo',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'demo',
    })
  if (name === 'opencode') expect(JSON.parse(text).provider.mine).toEqual({ name: 'Mine' })
  expect(await connect(name)).toMatchObject({ exitCode: 0 })
  expect(await read(file)).toBe(text)
  expect((await run(['connect', name, '--undo', '--yes'])).exitCode).toBe(0)
  expect(await read(file)).toBe(before)
})

test.each([
  ['comments', 'claude-code', '{\n// mine\n"theme": "dark"}', 1],
  ['a member of another type', 'claude-code', '{"env": []}', 1],
  ['a provider of the same name', 'opencode', '{"provider": {"gatehouse": {}}}', 5],
  ['a provider of the same name', 'codex', '[model_providers.gatehouse]\nname = "mine"\n', 5],
  ['a text over several lines', 'codex', 'notes = """\nmodel = "in a text"\n"""\n', 1],
  ['a profile', 'codex', 'profile = "mine"\n', 5],
  ['providers on one line', 'codex', 'model_providers = { mine = { name = "Mine" } }\n', 1],
  ['what is no TOML', 'codex', 'model = \n', 1],
] as const)('%s in the file of %s is refused', async (_what, name, text, exitCode) => {
  await write(FILES[name], text)
  const ran = await connect(name)
  expect(ran).toMatchObject({ exitCode, stdout: '' })
  expect(ran.stderr.toLowerCase()).toContain('nothing was written')
  expect(await read(FILES[name])).toBe(text)
  expect(existsSync(join(home, TOKEN_FILE))).toBe(false)
})

test('a file that was edited afterwards is neither written nor restored', async () => {
  await connect('claude-code')
  const edited = (await read(FILES['claude-code'])).replace('{', '{\n  "theme": "light",')
  await write(FILES['claude-code'], edited)
  for (const more of [[], ['--undo']])
    expect(await connect('claude-code', ...more)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('was edited'),
    })
  expect(await read(FILES['claude-code'])).toBe(edited)
})

test('without consent, a gate or an accepted token nothing is written', async () => {
  const claude = ['connect', 'claude-code']
  for (const [words, environment, exitCode, reason] of [
    [[...claude, '--gate', 'demo'], {}, 2, '--yes'],
    [[...claude, '--yes'], {}, 2, '--gate: '],
    [[...claude, '--gate', 'nowhere', '--yes'], {}, 4, 'demo'],
    [[...claude, '--yes'], { GATEHOUSE_TOKEN: `at-svc-${'0'.repeat(64)}` }, 3, 'refuses'],
    [[...claude, '--yes'], { GATEHOUSE_URL: '' }, 2, '--url'],
    [[...claude, '--undo', '--yes'], {}, 4, 'nothing to undo'],
  ] as const) {
    const ran = await run(words, environment)
    expect(ran).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(reason) })
    expect(existsSync(join(home, FILES['claude-code']))).toBe(false)
  }
})

test('a gate that fails is reported after the file was written', async () => {
  const ran = await run(['connect', 'codex', '--gate', 'broken', '--yes'])
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ran.stderr).toContain('is configured, but a test call failed')
  expect(await read(FILES.codex)).toContain('broken')
})

test('env saves the token of a file, and prints variables without it', async () => {
  await write('given', `${token}\n`)
  const given = ['--gate', 'demo', '--token-file', join(home, 'given')]
  const { exitCode, stdout } = await run(['connect', 'env', ...given], { GATEHOUSE_TOKEN: '' })
  expect(exitCode).toBe(0)
  expect(stdout).not.toContain(token)
  const shell = Bun.spawnSync(['sh', '-c', `${stdout}\necho $OPENAI_BASE_URL $OPENAI_API_KEY`])
  expect(shell.stdout.toString()).toBe(`${gatehouse.url}/v1 ${token}\n`)
})
