/** `gatehouse connect` and `gatehouse token`, from an empty home folder and beside settings. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Person, runCliInProcess } from '../support/run-cli-in-process.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const FILES = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/config.toml',
  opencode: '.config/opencode/opencode.json',
} as const
const agents = Object.entries(FILES)
const clients = [...agents, ['env', '.config/gatehouse/env.sh']] as const
const TOKEN_FILE = '.config/gatehouse/token'

let gatehouse: Gatehouse
let folder: TemporaryFolder
let token: string
let home: string
let environment: Readonly<Record<string, string>>
beforeAll(async () => {
  folder = await createTemporaryFolder()
  gatehouse = await startGatehouse({ sandbox: true })
  environment = { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key }
  token = await manage('tokens', 'create', 'agent')
  await manage('gates', 'create', 'broken', '--target', 'sandbox/429')
  await manage('gates', 'create', 'small', '--target', 'sandbox/echo-lenient')
})
afterAll(async () => {
  await gatehouse.remove()
  await folder.remove()
})
beforeEach(async () => {
  home = await mkdtemp(join(folder.path, 'home-'))
})

/** As the administrator. */
async function manage(...words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCliInProcess(words, { environment })
  expect({ words, exitCode, stderr }).toMatchObject({ exitCode: 0 })
  return stdout.trim()
}

function run(
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
  person?: Person,
) {
  const access = { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_TOKEN: token }
  return runCliInProcess(words, {
    environment: { HOME: home, ...access, ...more },
    ...(person === undefined ? {} : { person }),
  })
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
  'claude-code': `{
	// mine
	"theme": "dark", // loud
	"env": { "ANTHROPIC_API_KEY": "sk-planted-secret", "OTHER": "1" },
	"model": "opus"
}
`,
  codex: '# mine\nmodel = "other"\napproval_policy = "never"\n\n[tui]\n# loud\nmodel = "kept"\n',
  opencode: '{"theme": "dark", /* mine */ "provider": {"mine": {"name": "Mine"}}} // loud\n',
} as const
const AFTER = {
  'claude-code': () => ({
    theme: 'dark',
    model: 'opus',
    apiKeyHelper: `cat '${join(home, TOKEN_FILE)}'`,
    env: {
      OTHER: '1',
      ANTHROPIC_BASE_URL: gatehouse.url,
      ANTHROPIC_MODEL: 'demo',
      ANTHROPIC_DEFAULT_OPUS_MODEL: 'demo',
      ANTHROPIC_DEFAULT_SONNET_MODEL: 'demo',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'demo',
    },
  }),
  codex: () => ({
    model: 'demo',
    model_provider: 'gatehouse',
    approval_policy: 'never',
    tui: { model: 'kept' },
    model_providers: {
      gatehouse: {
        name: 'Gatehouse',
        base_url: `${gatehouse.url}/v1`,
        wire_api: 'responses',
        auth: { command: 'cat', args: [join(home, TOKEN_FILE)] },
      },
    },
  }),
  opencode: () => ({
    $schema: 'https://opencode.ai/config.json',
    theme: 'dark',
    provider: {
      mine: { name: 'Mine' },
      gatehouse: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Gatehouse',
        options: {
          baseURL: `${gatehouse.url}/v1`,
          apiKey: `{file:${join(home, TOKEN_FILE)}}`,
        },
        models: { demo: { name: 'demo' } },
      },
    },
    model: 'gatehouse/demo',
    small_model: 'gatehouse/demo',
  }),
} as const

const parse = (name: string, text: string): unknown =>
  name === 'codex' ? Bun.TOML.parse(text) : Bun.JSONC.parse(text)

describe.each(agents)('%s beside the settings of a person', (name, file) => {
  const before = EXISTING[name as keyof typeof EXISTING]
  const expected = AFTER[name as keyof typeof AFTER]

  test('keeps them, is the same when repeated, and is undone', async () => {
    await write(file, before)
    await chmod(join(home, file), 0o640)
    const { exitCode, stderr } = await connect(name)
    expect(exitCode).toBe(0)
    expect(stderr).toContain('+ ')
    expect(stderr).not.toContain('planted')
    const text = await read(file)
    expect(parse(name, text)).toEqual(expected())
    for (const comment of ['mine', 'loud']) expect(text).toContain(comment)
    const modes = [file, `${file}.before-gatehouse`].map(async (each) => {
      return (await stat(join(home, each))).mode & 0o777
    })
    expect(await Promise.all(modes)).toEqual([0o640, 0o600])
    expect(await read(`${file}.before-gatehouse`)).toBe(before)
    expect(await connect(name)).toMatchObject({ exitCode: 0 })
    expect(await read(file)).toBe(text)
    expect((await run(['connect', name, '--undo', '--yes'])).exitCode).toBe(0)
    expect(await read(file)).toBe(before)
  })

  test('keeps what was changed after it was connected', async () => {
    await write(file, before)
    await connect(name)
    const later = name === 'codex' ? '\n[later]\nadded = true\n' : undefined
    const text = await read(file)
    const edited = later ? text + later : text.replace('{', '{\n  "later": {"added": true},')
    await write(file, edited)
    const settings = { later: { added: true } }
    expect(await connect(name, '--gate', 'small')).toMatchObject({ exitCode: 0 })
    expect(parse(name, await read(file))).toMatchObject(settings)
    expect(await read(file)).toContain('small')
    await write(file, (await read(file)).replace('true', 'false'))
    expect((await run(['connect', name, '--undo', '--yes'])).exitCode).toBe(0)
    const restored = parse(name, await read(file))
    expect(restored).toEqual({
      ...(parse(name, before) as object),
      later: { added: false },
    })
    for (const comment of ['mine', 'loud']) expect(await read(file)).toContain(comment)
    expect(await read(file)).not.toContain('gatehouse')
  })

  test('a dry run shows the change, and changes nothing', async () => {
    await write(file, before)
    const shown = await connect(name, '--dry-run')
    expect(shown.exitCode).toBe(0)
    expect(shown.stdout).toContain(gatehouse.url)
    expect(shown.stdout).not.toContain('planted')
    expect(await read(file)).toBe(before)
    expect(
      [TOKEN_FILE, `${file}.before-gatehouse`].map((each) => existsSync(join(home, each))),
    ).toEqual([false, false])
    await connect(name)
    const connected = await read(file)
    const undone = await run(['connect', name, '--undo', '--dry-run'])
    expect(undone).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('- ') })
    expect(await read(file)).toBe(connected)
  })
})

test.each([
  ['a list', 'claude-code', '[1]', 1],
  ['what is no JSON', 'claude-code', '{"theme"}', 1],
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

test('opencode.jsonc is written where it exists', async () => {
  const file = '.config/opencode/opencode.jsonc'
  await write(file, '{}')
  await connect('opencode')
  expect(parse('opencode', await read(file))).toMatchObject({ model: 'gatehouse/demo' })
  expect(existsSync(join(home, FILES.opencode))).toBe(false)
})

test('opencode.json is undone where opencode.jsonc was created later', async () => {
  await connect('opencode')
  await write('.config/opencode/opencode.jsonc', '{}')
  expect(await run(['connect', 'opencode', '--undo', '--yes'])).toMatchObject({ exitCode: 0 })
  expect(existsSync(join(home, FILES.opencode))).toBe(false)
})

test('nothing is written when something is missing or refused', async () => {
  const claude = ['connect', 'claude-code']
  const until = new Date(Date.now() + 1_000)
  const expired = await manage('tokens', 'create', 'short', '--expires-at', until.toISOString())
  await manage('gates', 'create', 'doomed', '--target', 'sandbox/echo-lenient')
  const gateless = await manage('tokens', 'create', 'gateless', '--gate', 'doomed')
  await manage('gates', 'delete', 'doomed')
  const elsewhere = await manage('tokens', 'create', 'remote', '--ip-range', '192.0.2.0/24')
  await Bun.sleep(Math.max(0, until.getTime() - Date.now() + 5))
  const other = Bun.serve({ port: 0, fetch: () => new Response('hello', { status: 404 }) })
  const unknown = `at-svc-${'0'.repeat(64)}`
  for (const [words, environment, exitCode, reason] of [
    [[...claude, '--gate', 'demo'], {}, 2, '--yes'],
    [[...claude, '--yes'], {}, 2, '--gate: '],
    [[...claude, '--gate', 'nowhere', '--yes'], {}, 4, 'demo'],
    [[...claude, '--gate', 'demo', '--small-gate', 'nowhere', '--yes'], {}, 4, 'demo'],
    [[...claude, '--yes'], { GATEHOUSE_TOKEN: unknown }, 3, 'is unknown to this gateway'],
    [[...claude, '--yes'], { GATEHOUSE_TOKEN: unknown.slice(1) }, 3, 'form'],
    [[...claude, '--yes'], { GATEHOUSE_TOKEN: unknown.slice(0, 40) }, 3, 'whole token copied'],
    [[...claude, '--yes'], { GATEHOUSE_TOKEN: expired }, 3, 'has expired'],
    [
      [...claude, '--yes'],
      { GATEHOUSE_TOKEN: gateless },
      4,
      'All gates of this token were deleted',
    ],
    [[...claude, '--yes'], { GATEHOUSE_TOKEN: elsewhere }, 3, 'from your address'],
    [[...claude, '--yes'], { GATEHOUSE_TOKEN: 'Bearer x' }, 3, "the word 'Bearer'"],
    [[...claude, '--token-file', 'nowhere', '--yes'], {}, 1, 'nowhere cannot be used'],
    [[...claude, '--yes'], { GATEHOUSE_URL: '' }, 2, '--url'],
    [[...claude, '--yes', '--url', 'http://127.0.0.1:9'], {}, 1, 'No gateway answers'],
    [[...claude, '--yes', '--url', other.url.href], {}, 1, 'not how a gateway answers'],
    [[...claude, '--undo', '--yes'], {}, 4, 'nothing to undo'],
  ] as const) {
    const ran = await run(words, environment)
    expect(ran.stderr).not.toContain('at-svc-0')
    expect(ran).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(reason) })
    expect(existsSync(join(home, FILES['claude-code']))).toBe(false)
  }
  await other.stop(true)
})

describe('a person at a terminal', () => {
  const claude = ['connect', 'claude-code']

  test('gives the token, chooses both gates and agrees', async () => {
    const person = { secret: token, choices: ['small', 'demo'], yes: true }
    const ran = await run(claude, { GATEHOUSE_TOKEN: '' }, person)
    expect(ran.exitCode).toBe(0)
    const questions = ran.stderr.split('\n').filter((line) => line.startsWith('? '))
    expect(questions.map((line) => line.slice(2))).toEqual([
      'Access token',
      'Gate: small broken demo',
      'Gate for small tasks: small broken demo',
      `Write ${join(home, FILES['claude-code'])}?`,
    ])
    expect(JSON.parse(await read(FILES['claude-code'])).env).toMatchObject({
      ANTHROPIC_MODEL: 'small',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'demo',
    })
  })

  test('keeps the saved token for a second client by an empty answer', async () => {
    expect((await connect('codex')).exitCode).toBe(0)
    const person = { secret: '', yes: true }
    const ran = await run([...claude, '--gate', 'demo'], { GATEHOUSE_TOKEN: '' }, person)
    expect(ran.exitCode).toBe(0)
    expect(ran.stderr).toContain('? Access token (Enter: the saved one)\n')
    expect(ran.stderr).not.toContain('was replaced')
    expect(await read(TOKEN_FILE)).toBe(token)
  })

  test.each([
    ['cancels the choice', {}, 130],
    ['cancels the choice of the small gate', { choices: ['demo'] }, 130],
    ['does not agree', { choices: ['demo', 'demo'], yes: false }, 1],
    ['cancels the question', { choices: ['demo', 'demo'] }, 130],
  ] as const)('%s: nothing is written', async (_, person, exitCode) => {
    expect(await run(claude, {}, person)).toMatchObject({ exitCode, stdout: '' })
    for (const file of [FILES['claude-code'], TOKEN_FILE])
      expect(existsSync(join(home, file))).toBe(false)
  })

  test('is not asked where there is one gate, or options name it', async () => {
    const only = await manage('tokens', 'create', 'one', '--gate', 'demo')
    for (const [given, words] of [
      [only, []],
      [token, ['--gate', 'demo']],
    ] as const)
      expect(
        await run([...claude, ...words, '--yes'], { GATEHOUSE_TOKEN: given }, {}),
      ).toMatchObject({
        exitCode: 0,
        stderr: expect.not.stringContaining('?'),
      })
  })
})

test('a gate that fails is reported after the file was written', async () => {
  for (const words of [
    ['codex', '--gate', 'broken'],
    ['claude-code', '--gate', 'demo', '--small-gate', 'broken'],
  ]) {
    const ran = await run(['connect', ...words, '--yes'])
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain("a test call through the gate 'broken' failed")
    expect(await read(FILES[words[0] as keyof typeof FILES])).toContain('broken')
  }
})

test('an API key works, and the command says what it can do', async () => {
  const ran = await run(['connect', 'codex', '--gate', 'demo', '--yes'], {
    GATEHOUSE_TOKEN: gatehouse.key,
  })
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('full access') })
})

test('variables of the shell that take precedence are named', async () => {
  const { stderr } = await run(['connect', 'claude-code', '--gate', 'demo', '--yes'], {
    ANTHROPIC_AUTH_TOKEN: 'sk-planted',
  })
  expect(stderr).toContain('ANTHROPIC_AUTH_TOKEN is set in this shell')
  expect(stderr).not.toContain('planted')
})

test('env saves the token of a file, and writes variables that a shell reads', async () => {
  await write('given', `${token}\n`)
  const given = ['--gate', 'demo', '--token-file', join(home, 'given')]
  const connected = await run(['connect', 'env', ...given, '--yes'], { GATEHOUSE_TOKEN: '' })
  expect(connected.exitCode).toBe(0)
  const next = /Next: (.*)/.exec(connected.stdout)?.[1]
  const shell = Bun.spawnSync(['sh', '-c', `${next}; echo $OPENAI_BASE_URL $ANTHROPIC_AUTH_TOKEN`])
  expect(shell.stdout.toString()).toBe(`${gatehouse.url}/v1 ${token}\n`)
})

test('the token stays while a connected client needs it', async () => {
  await connect('codex')
  await connect('env')
  const undo = (name: string) => run(['connect', name, '--undo', '--yes'])
  expect((await undo('env')).stdout).not.toContain('token was removed')
  expect((await run(['token'])).stdout).toBe(`${token}\n`)
  expect((await undo('codex')).stdout).toContain('token was removed')
  expect((await run(['token'])).exitCode).toBe(4)
})

test('the limits of the gate are written for clients that would assume others', async () => {
  const claude = '.claude/settings.json'
  await write(claude, '{"env": {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "9"}}')
  const assumed =
    "The context of the gate 'demo' is not known, so Claude Code assumes a million tokens"
  expect(await connect('claude-code')).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(assumed),
  })
  const windowOf = async () => JSON.parse(await read(claude)).env.CLAUDE_CODE_MAX_CONTEXT_TOKENS
  // The context of the gate is not known.
  expect(await windowOf()).toBe('9')
  const facts = ['--fact', 'contextTokens=123000', '--fact', 'maxOutputTokens=4000']
  await manage('gates', 'update', 'demo', ...facts)
  expect(await connect('claude-code')).toMatchObject({
    exitCode: 0,
    stderr: expect.not.stringContaining('is not known'),
  })
  expect(await windowOf()).toBe('123000')
  expect((await run(['connect', 'claude-code', '--undo', '--yes'])).exitCode).toBe(0)
  expect(await windowOf()).toBe('9')
  expect((await connect('opencode')).exitCode).toBe(0)
  const { provider } = Bun.JSONC.parse(await read('.config/opencode/opencode.json')) as {
    provider: { gatehouse: { models: object } }
  }
  expect(provider.gatehouse.models).toEqual({
    demo: { name: 'demo', limit: { context: 123_000, output: 4_000 } },
  })
})

describe('the list of models of Codex', () => {
  const CATALOG = '.codex/gatehouse-models.json'
  const own = { slug: 'gpt-x', base_instructions: 'Own prompt.', context_window: 9, priority: 1 }

  /** A `codex` whose `debug models` prints this. */
  async function install(printed: string): Promise<Readonly<Record<string, string>>> {
    const bin = join(home, 'bin')
    await mkdir(bin, { recursive: true })
    await writeFile(join(home, 'models.json'), printed)
    await writeFile(join(bin, 'codex'), `#!/bin/sh\n/bin/cat '${join(home, 'models.json')}'\n`)
    await chmod(join(bin, 'codex'), 0o755)
    return { PATH: bin }
  }
  const connectCodex = (environment: Readonly<Record<string, string>>, gate = 'demo') =>
    run(['connect', 'codex', '--gate', gate, '--yes'], environment)

  test('has the gate with the prompt of Codex and the context of the gate, until undo', async () => {
    await manage('gates', 'update', 'small', '--fact', 'contextTokens=123000')
    const environment = await install(JSON.stringify({ models: [own] }))
    expect(await connectCodex(environment, 'small')).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(await read(CATALOG)).models).toEqual([
      {
        ...own,
        slug: 'small',
        display_name: 'small',
        description: 'A gate of Gatehouse.',
        context_window: 123_000,
        max_context_window: 123_000,
      },
    ])
    const settings = Bun.TOML.parse(await read('.codex/config.toml'))
    expect(settings).toMatchObject({ model_catalog_json: join(home, CATALOG) })
    expect((await connectCodex(environment, 'small')).exitCode).toBe(0)
    expect((await run(['connect', 'codex', '--undo', '--yes'])).exitCode).toBe(0)
    expect(existsSync(join(home, CATALOG))).toBe(false)
    expect(existsSync(join(home, '.codex/config.toml'))).toBe(false)
  })

  test('is left to the gateway where the gate has instructions for Codex', async () => {
    const prompt = join(home, 'prompt.md')
    await writeFile(prompt, 'Be brief.')
    await manage('gates', 'update', 'small', '--codex-instructions', prompt)
    const connected = await connectCodex(await install(JSON.stringify({ models: [own] })), 'small')
    await manage('gates', 'update', 'small', '--codex-instructions', 'none')
    expect(connected.exitCode).toBe(0)
    expect(existsSync(join(home, CATALOG))).toBe(false)
  })

  test.each(['no JSON', '{"models":[]}', '{}'])(
    'is absent, with a note, when Codex prints %p',
    async (printed) => {
      const connected = await connectCodex(await install(printed))
      expect(connected).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('metadata') })
      expect(await read('.codex/config.toml')).not.toContain('model_catalog_json')
    },
  )

  test('of another kind is not replaced', async () => {
    await write('.codex/config.toml', 'model_catalog_json = "/mine.json"\n')
    const connected = await connectCodex(await install(JSON.stringify({ models: [own] })))
    expect(connected).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('model_catalog_json'),
    })
    expect(existsSync(join(home, CATALOG))).toBe(false)
  })
})
