/**
 * The command line as a person or a script uses it, on a local folder and against a server.
 * Commands run in this process; the real program is started (`runCli`) for exit codes, streams and
 * folders as a shell and other processes see them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { boundToTest } from '../support/bound-to-test.ts'
import { PROGRAM } from '../support/program.ts'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess as run } from '../support/run-cli-in-process.ts'
import { createBootstrapKey, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

describe('on the local data folder', () => {
  let folder: TemporaryFolder
  let environment: Record<string, string>
  beforeAll(async () => {
    folder = await createTemporaryFolder()
    environment = { GATEHOUSE_DATA_DIR: folder.path }
  })
  afterAll(() => folder.remove())

  test('keys create prints the key alone on standard output, and keys list only its masked prefix', async () => {
    const created = await runCli(['keys', 'create', 'ci'], { environment })
    expect(created.exitCode).toBe(0)
    expect(created.stdout).toMatch(/^sk-svc-[0-9a-f]{64}\n$/)
    const listed = await runCli(['keys', 'list'], { environment })
    expect(listed.stdout).toContain(`${created.stdout.slice(0, 11)}…`)
    expect(listed.stdout).not.toContain(created.stdout.trim())
  })

  test('keys rotate prints the new key alone, and keys update renames; the id stays', async () => {
    const created = await run(
      ['keys', 'create', 'turning', '--expires-at', '2099-01-01T00:00:00Z', '--json'],
      {
        environment,
      },
    )
    const { id, key } = JSON.parse(created.stdout) as { id: string; key: string }
    const rotated = await run(['keys', 'rotate', id.slice(-12), '--old-ends-in', '60'], {
      environment,
    })
    expect(rotated.exitCode).toBe(0)
    expect(rotated.stdout).toMatch(/^sk-svc-[0-9a-f]{64}\n$/)
    expect(rotated.stdout.trim()).not.toBe(key)
    expect(rotated.stderr).toContain('The old key ends at ')
    expect((await run(['keys', 'rotate', id], { environment })).exitCode).toBe(5)
    const renamed = await run(
      ['keys', 'update', id, '--name', 'turned', '--expires-at', 'never', '--json'],
      {
        environment,
      },
    )
    expect(JSON.parse(renamed.stdout)).toMatchObject({ id, name: 'turned', expiresAt: null })
    expect((await run(['keys', 'update', id], { environment })).exitCode).toBe(2)
    expect(
      (await run(['keys', 'rotate', id, '--old-ends-in', 'soon'], { environment })).exitCode,
    ).not.toBe(0)
  })

  test('keys import reads the key from standard input and never shows it', async () => {
    const key = `legacy_kkkk${crypto.randomUUID()}`
    const imported = await runCli(['keys', 'import', 'old'], { environment, input: `${key}\n` })
    expect(imported.exitCode).toBe(0)
    expect(imported.stdout + imported.stderr).not.toContain(key)
    expect((await run(['keys', 'import', 'again'], { environment, input: key })).exitCode).toBe(5)
  })

  test('a provider key is read from standard input, listed masked, switched off and deleted', async () => {
    const key = `sk-planted-${'p'.repeat(30)}-9f3c`
    const set = await run(['provider-keys', 'set', 'sandbox'], { environment, input: `${key}\n` })
    expect(set).toMatchObject({ exitCode: 0, stdout: 'Set sk-…9f3c for sandbox.\n' })
    const listed = await run(['provider-keys', 'list'], { environment })
    expect(listed.stdout).toMatch(/^sandbox {3}sk-…9f3c {2}yes {5}\d/m)
    const off = await run(['provider-keys', 'deactivate', 'sandbox', '--json'], { environment })
    expect(JSON.parse(off.stdout)).toMatchObject({ provider: 'sandbox', active: false })
    expect((await run(['provider-keys', 'activate', 'sandbox'], { environment })).stdout).toContain(
      'active',
    )
    const inactive = ['provider-keys', 'set', 'sandbox', '--inactive', '--json']
    expect(JSON.parse((await run(inactive, { environment, input: key })).stdout)).toMatchObject({
      active: false,
    })
    const status = await run(['master-key', 'status'], { environment })
    expect(status.exitCode).toBe(0)
    expect(status.stdout).toMatch(/provider_keys +1 +0 +0/)
    expect((await run(['provider-keys', 'delete', 'sandbox'], { environment })).exitCode).toBe(0)
    for (const ran of [set, listed, off, status])
      expect(ran.stdout + ran.stderr).not.toContain('planted')
  })

  test.each([
    ['set for an unknown provider', ['set', 'nobody'], 'k', 4, 'nobody'],
    ['set with nothing on standard input', ['set', 'sandbox'], '', 2, 'no key'],
    [
      'set with the key as an argument',
      ['set', 'sandbox', 'sk-planted'],
      '',
      2,
      'too many arguments',
    ],
    ['set with two lines', ['set', 'sandbox'], 'planted\nplanted', 1, 'key: must be the whole key'],
    ['deactivated though not there', ['deactivate', 'sandbox'], '', 4, 'no own key'],
    ['deleted though not there', ['delete', 'sandbox'], '', 4, 'no own key'],
  ])('a provider key %s ends with its exit code', async (_name, words, input, exitCode, said) => {
    const ran = await run(['provider-keys', ...words], { environment, input })
    expect(ran.stderr).not.toContain('planted')
    expect(ran).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(said) })
  })

  test('a gate can be created, shown, changed, called and deleted', async () => {
    const made = await run(['gates', 'create', 'try', '--target', 'sandbox/echo', '--json'], {
      environment,
    })
    expect(JSON.parse(made.stdout)).toMatchObject({
      id: 'try',
      targets: [{ model: 'sandbox/echo' }],
    })
    const updated = await run(['gates', 'update', 'try', '--timeout-ms', '5000', '--json'], {
      environment,
    })
    expect(JSON.parse(updated.stdout)).toMatchObject({
      timeoutMs: 5000,
      targets: [{ model: 'sandbox/echo' }],
    })
    expect((await run(['gates', 'list'], { environment })).stdout).toContain('try  sandbox/echo')
    const called = await run(['call', 'try', 'Hello'], { environment })
    expect(called).toMatchObject({ exitCode: 0, stdout: 'Sandbox echo: Hello\n' })
    expect(called.stderr).toContain('sandbox/echo · ')
    expect((await run(['gates', 'delete', 'try'], { environment })).exitCode).toBe(0)
    expect((await run(['gates', 'show', 'try'], { environment })).exitCode).toBe(4)
  })

  test.each(['sandbox-gemini', 'sandbox-anthropic', 'sandbox-bedrock'])(
    'a gate with a target of %s, which has no format of its own here, is called by chat',
    async (provider) => {
      const id = `only-${provider}`
      await run(['gates', 'create', id, '--target', `${provider}/echo`], { environment })
      const called = await run(['call', id, 'Hello'], { environment })
      expect(called).toMatchObject({ exitCode: 0, stdout: 'Sandbox echo: Hello\n' })
      expect(called.stderr).toContain(`${provider}/echo · `)
      const middle = await run(['call', id, 'Hello', '--suffix', 'x'], { environment })
      expect(middle).toMatchObject({ exitCode: 1, stdout: '' })
      expect(middle.stderr).toContain('uses a format that fits this call')
    },
  )

  test('defaults of a gate are set one by one, shown, and removed together', async () => {
    const gates = async (...words: string[]) =>
      (await run(['gates', ...words], { environment })).stdout
    await gates(
      'create',
      'brief',
      '--target',
      'sandbox/echo',
      '--instructions',
      'Be\nbrief.',
      '--overrides',
      'allow',
    )
    const changed = JSON.parse(
      await gates(
        'update',
        'brief',
        '--temperature',
        '0.5',
        '--top-p',
        '1',
        '--max-output-tokens',
        '9',
        '--json',
      ),
    )
    expect(changed).toMatchObject({
      overrides: 'allow',
      defaults: { instructions: 'Be\nbrief.', temperature: 0.5, topP: 1, maxOutputTokens: 9 },
    })
    const shown = await gates('show', 'brief')
    expect(shown).toMatch(/^instructions +Be brief\.$/m)
    expect(shown).toMatch(/^overrides +allow$/m)
    const cleared = await gates(
      'update',
      'brief',
      '--clear-defaults',
      '--reasoning-effort',
      'none',
      '--json',
    )
    expect(JSON.parse(cleared).defaults).toEqual({ reasoningEffort: 'none' })
    expect(
      JSON.parse(await gates('update', 'brief', '--clear-defaults', '--json')).defaults,
    ).toEqual({})
  })

  test('gates test prints a row for each target, and fails when one does', async () => {
    const targets = ['sandbox/echo', 'sandbox/503', 'groq/llama'].flatMap((target) => [
      '--target',
      target,
    ])
    await run(['gates', 'create', 'tested', ...targets], { environment })
    const ran = await run(['gates', 'test', 'tested'], { environment })
    expect(ran).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('2 of 3 targets failed'),
    })
    const [head, ...rows] = ran.stdout.trim().split('\n')
    expect(head).toMatch(/^TARGET +STATUS +MS +TOKENS +ERROR$/)
    expect(rows[0]).toMatch(/^sandbox\/echo +ok +\d+ +\d+\+\d+$/)
    expect(rows[1]).toMatch(/^sandbox\/503 +failed +\d+ +- +upstream_error$/)
    expect(rows[2]).toMatch(/^groq\/llama +failed +\d+ +- +provider_auth_failed$/)
    expect(rows[3]).toMatch(/^sandbox\/503: upstream_error: ./)
    expect(rows[4]).toMatch(/^groq\/llama: provider_auth_failed: .*GROQ_API_KEY/)
    const json = await run(['gates', 'test', 'tested', '--json'], { environment })
    expect(JSON.parse(json.stdout).results).toHaveLength(3)
    await run(['gates', 'update', 'tested', '--target', 'sandbox/echo'], { environment })
    expect(await run(['gates', 'test', 'tested'], { environment })).toMatchObject({
      exitCode: 0,
      stderr: '',
    })
  })

  test('none takes a gate’s time limits and prompt for Codex back', async () => {
    const update = (...words: string[]) =>
      run(['gates', 'update', 'limited', ...words, '--json'], { environment })
    await run(['gates', 'create', 'limited', '--target', 'sandbox/echo'], { environment })
    await update('--timeout-ms', '5000', '--hedge-after-ms', '900')
    const updated = await update(
      ...['--timeout-ms', 'none', '--hedge-after-ms', 'none', '--codex-instructions', 'none'],
    )
    expect(JSON.parse(updated.stdout)).toMatchObject({
      timeoutMs: null,
      hedgeAfterMs: null,
      codexInstructions: null,
    })
  })

  test.each([
    ['an unknown command', ['gats'], 2, 'Did you mean gates?'],
    ['a temperature out of range', ['gates', 'create', 'x', '--temperature', '2.5'], 2, '0 to 2'],
    ['an invalid effort', ['gates', 'create', 'x', '--reasoning-effort', 'huge'], 2, 'xhigh'],
    ['a test of a gate that is not there', ['gates', 'test', 'nope'], 4, 'gate'],
    ['an option out of range', ['gates', 'create', 'x', '--max-retries', '9'], 2, '0 to 5'],
    ['a missing argument', ['keys', 'create'], 2, 'name'],
    ['a time that is no number', ['keys', 'rotate', 'x', '--old-ends-in', 'soon'], 2, '--old-ends'],
    [
      'a budget of nothing',
      ['budgets', 'create', '--usd', '5', '--period', 'day'],
      2,
      '--key, --gate',
    ],
    [
      'a budget without a limit',
      ['budgets', 'create', '--gate', 'demo', '--period', 'day'],
      2,
      '--tokens or --usd',
    ],
    [
      'an endpoint that is not known',
      ['providers', 'conformance', '--endpoint', '/v1/chat'],
      4,
      'The endpoint /v1/chat does not exist. The endpoints are /v1/',
    ],
    [
      'a conformance of nobody',
      ['providers', 'conformance', '--provider', 'nobody'],
      4,
      "There is no provider 'nobody'",
    ],
    [
      'a file that is not there',
      ['config', 'diff', '--file', 'no.yaml'],
      1,
      'gatehouse config pull',
    ],
    [
      'a provider that is not known',
      ['gates', 'create', 'x', '--target', 'nobody/x'],
      1,
      'targets[0].model',
    ],
    ['a gate that is not there', ['call', 'nope', 'Hi'], 4, 'gate'],
  ])('%s ends with its exit code and names the fault', async (_name, words, exitCode, said) => {
    const ran = await run(words, { environment })
    expect(ran).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(said) })
  })

  test('with --json an error is JSON on standard error', async () => {
    const ran = await runCli(['gates', 'show', 'nope', '--json'], { environment })
    expect(ran).toMatchObject({ exitCode: 4, stdout: '' })
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: 'gate_not_found' })
  })

  test('with --json wrong usage is JSON on standard error too', async () => {
    for (const words of [
      ['keys'],
      ['keys', 'create'],
      ['gats'],
      ['call', 'x', 'y', '--max-tokens', 'many'],
    ]) {
      const ran = await run([...words, '--json'], { environment })
      expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
      expect(JSON.parse(ran.stderr)).toMatchObject({ error: 'usage', message: expect.any(String) })
    }
  })

  test.each([
    ['a suffix for a chat', ['call', 'x', 'y', '--endpoint', 'chat', '--suffix', 'z']],
    [
      'a system prompt for fill-in-the-middle',
      ['call', 'x', 'y', '--endpoint', 'fim', '--system', 'z'],
    ],
    ['an empty prompt', ['call', 'x', '-']],
    ['a gate without a target', ['gates', 'create', 'x']],
    ['an update of nothing', ['gates', 'update', 'x']],
    ['an import of nothing', ['keys', 'import', 'x']],
    ['an invalid port', ['serve', '--port', '99999']],
  ])('%s is wrong usage', async (_name, words) => {
    expect((await run(words, { environment })).exitCode).toBe(2)
  })

  test('a list in a pipe has whole names, and a listed id is enough to delete', async () => {
    const name = 'a long name '.repeat(9).trim()
    const created = JSON.parse(
      (await run(['keys', 'create', name, '--json'], { environment })).stdout,
    )
    const listed = (await run(['keys', 'list'], { environment })).stdout.trim().split('\n')
    const shortId = listed.find((line) => line.includes(name))?.split(' ')[0] ?? ''
    expect(created.id).toEndWith(shortId)
    expect((await run(['keys', 'delete', shortId], { environment })).stdout).toContain(created.id)
    expect((await run(['keys', 'delete', shortId], { environment })).exitCode).toBe(4)
  })

  test('a list that the limit cuts ends with a note', async () => {
    await run(['keys', 'create', 'one'], { environment })
    await run(['keys', 'create', 'two'], { environment })
    const ran = await run(['keys', 'list', '--limit', '1', '--json'], { environment })
    expect(JSON.parse(ran.stdout)).toHaveLength(1)
    expect(ran.stderr).toContain('--limit')
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s ends a call, and its row says that it was cancelled',
    async (signal, exitCode) => {
      const target = 'sandbox/echo+hang-mid-stream'
      await run(['gates', 'create', `hang-${signal}`, '--target', target], { environment })
      const { PATH = '', HOME = '' } = process.env
      const child = Bun.spawn(
        boundToTest([...PROGRAM, 'call', `hang-${signal}`, 'one two three four']),
        {
          env: { PATH, HOME, ...environment },
          stdin: 'ignore',
          stdout: 'pipe',
          stderr: 'pipe',
        },
      )
      const text = child.stdout.getReader()
      await text.read()
      child.kill(signal)
      // A second signal would end the process at once, and a reader that leaves would be another
      // reason to end.
      while (!(await text.read()).done);
      expect(await child.exited).toBe(exitCode)
      expect(await child.stderr.text()).toBe('')
      const logs = await run(['logs', '--gate', `hang-${signal}`, '--json'], { environment })
      expect(JSON.parse(logs.stdout)).toMatchObject([{ outcome: 'cancelled' }])
    },
  )

  test('every command has help with an example', async () => {
    for (const words of [
      'serve',
      'sandbox',
      'keys create',
      'keys list',
      'keys import',
      'keys update',
      'keys rotate',
      'keys delete',
      'gates create',
      'provider-keys list',
      'provider-keys set',
      'provider-keys activate',
      'provider-keys deactivate',
      'provider-keys delete',
      'master-key status',
      'master-key rotate',
      'store copy',
      'store adopt',
      'providers list',
      'providers conformance',
      'config pull',
      'config diff',
      'config push',
      'doctor',
      'call',
    ]) {
      const ran = await run([...words.split(' '), '--help'], { environment })
      expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('$ ') })
    }
  })
})

test('a shell sees wrong usage by its exit code, and help is a success', async () => {
  const environment = {}
  expect(await runCli(['gats'], { environment })).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining('Did you mean gates?'),
  })
  expect(await runCli(['serve', '--help'], { environment })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('$ '),
    stderr: '',
  })
})

describe('starting', () => {
  let folder: TemporaryFolder
  beforeAll(async () => {
    folder = await createTemporaryFolder()
  })
  afterAll(() => folder.remove())

  test('a taken port is refused, ends the process, and does not use up the first key', async () => {
    const running = await startGatehouse()
    const { port } = new URL(running.url)
    const environment = { GATEHOUSE_DATA_DIR: folder.path }
    for (const words of [['serve', '--sandbox'], ['sandbox']]) {
      const ran = await runCli([...words, '--port', port], { environment })
      expect(ran).toMatchObject({
        exitCode: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(`cannot listen on port ${port} of .*: another process has it.* --port `),
        ),
      })
    }
    const forMetrics = { ...environment, GATEHOUSE_METRICS_PORT: port }
    expect(await runCli(['serve', '--port', '0'], { environment: forMetrics })).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(
        'another process has it. Give another with GATEHOUSE_METRICS_PORT',
      ),
    })
    await running.remove()
    const keys = await run(['keys', 'list', '--json'], { environment })
    expect(JSON.parse(keys.stdout)).toEqual([])
  })

  test('a data folder that was not there is named beside the answer, and only when it is made', async () => {
    const missing = { GATEHOUSE_DATA_DIR: `${folder.path}/mistyped` }
    const listed = await runCli(['keys', 'list', '--json'], { environment: missing })
    expect(listed).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
      stderr: expect.stringContaining(`${folder.path}/mistyped was not there: it was made`),
    })
    expect(await run(['keys', 'list', '--json'], { environment: missing })).toMatchObject({
      stderr: '',
    })
    const users = { GATEHOUSE_DATA_DIR: `${folder.path}/mistyped-too` }
    expect(await runCli(['users', 'list'], { environment: users })).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('mistyped-too was not there: it was made'),
    })
  })

  test('commands that meet on one folder wait for each other', async () => {
    const environment = { GATEHOUSE_DATA_DIR: folder.path }
    const words = ['a', 'b'].flatMap((name) => [
      ['keys', 'create', name],
      ['users', 'list'],
    ])
    const ran = await Promise.all(words.map((each) => runCli(each, { environment })))
    expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
    const listed = await run(['keys', 'list'], { environment })
    expect(listed.stdout.trim().split('\n')).toHaveLength(3)
  })

  test('a file that is not a database is reported with the way out', async () => {
    const other = await createTemporaryFolder()
    await Bun.write(
      `${other.path}/gatehouse.db`,
      'not a database, but as long as the header of one would be',
    )
    const ran = await runCli(['keys', 'list'], { environment: { GATEHOUSE_DATA_DIR: other.path } })
    await other.remove()
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toMatch(/^gatehouse: .*GATEHOUSE_DATA_DIR.*\n$/)
  })
})

describe('against a server', () => {
  let gatehouse: Awaited<ReturnType<typeof startGatehouse>>
  let environment: Record<string, string>
  beforeAll(async () => {
    gatehouse = await startGatehouse({ sandbox: true })
    environment = { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key }
  })
  afterAll(() => gatehouse.remove())

  test.each(['responses', 'chat', 'mistral-chat', 'fim'])(
    'calls a gate over %s, as a stream and whole',
    async (endpoint) => {
      for (const flags of [[], ['--no-stream']]) {
        const ran = await run(['call', 'demo', 'Hello', '--endpoint', endpoint, ...flags], {
          environment,
        })
        expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/sandbox/i) })
        expect(ran.stderr).toMatch(/\d+ tokens in, \d+ out/)
      }
    },
  )

  test('calls a gate with an access token, which reads no gate', async () => {
    const token = (await run(['tokens', 'create', 'caller'], { environment })).stdout.trim()
    const withToken = { environment: { ...environment, GATEHOUSE_API_KEY: token } }
    for (const flags of [[], ['--suffix', 'x'], ['--endpoint', 'responses']]) {
      const ran = await run(['call', 'demo', 'Hello', ...flags], withToken)
      expect(ran.stdout + ran.stderr).toMatch(/^(?:Sandbox echo: Hello|.*Sandbox middle)/)
      expect(ran.exitCode).toBe(0)
    }
  })

  test('reads the prompt from standard input', async () => {
    const ran = await runCli(['call', 'demo', '-'], { environment, input: 'from a pipe' })
    expect(ran.stdout).toBe('Sandbox echo: from a pipe\n')
  })

  test('providers list shows which have a key, and conformance shows the losses', async () => {
    const list = await run(['providers', 'list'], { environment })
    expect(list.stdout).toMatch(/^sandbox +the gateway's +Sandbox$/m)
    const words = ['providers', 'conformance', '--endpoint', '/v1/chat/completions', '--provider']
    const lossy = await run([...words, 'bedrock'], { environment })
    expect(lossy.stdout).toMatch(/^seed +lossy +seed$/m)
    expect(lossy.stdout).toMatch(/^imageUrl +refused +The target/m)
    const relayed = await run([...words, 'groq'], { environment })
    expect(relayed.stdout).toBe('/v1/chat/completions → groq\nrelayed byte for byte\n')
    const [row] = JSON.parse((await run([...words, 'cohere', '--json'], { environment })).stdout)
    expect(row.results.seed).toEqual({ verdict: 'lossless' })
    expect(await run([...words, 'nobody'], { environment })).toMatchObject({
      exitCode: 4,
      stdout: '',
    })
  })

  test('an address that is not a gateway is a failure', async () => {
    const stranger = Bun.serve({ port: 0, fetch: () => Response.json({ hello: 'world' }) })
    for (const words of [
      ['keys', 'create', 'x'],
      ['keys', 'list'],
      ['gates', 'delete', 'x'],
      ['call', 'x', 'y'],
    ]) {
      const ran = await run(words, {
        environment: { ...environment, GATEHOUSE_URL: stranger.url.href },
      })
      expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('GATEHOUSE_URL') })
      expect(ran.stdout.trim()).toBe('')
    }
    await stranger.stop(true)
  })

  test('a key without an address, and an address with a password, are refused without repeating them', async () => {
    const alone = await run(['keys', 'list'], { environment: { GATEHOUSE_API_KEY: gatehouse.key } })
    expect(alone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('GATEHOUSE_URL') })
    const address = gatehouse.url.replace('//', '//user:hidden@')
    const password = await run(['keys', 'list'], {
      environment: { ...environment, GATEHOUSE_URL: address },
    })
    expect(password.exitCode).toBe(2)
    expect(alone.stderr + password.stderr).not.toMatch(/hidden|sk-svc/)
  })

  test('the address for SDKs works too', async () => {
    const withVersion = { ...environment, GATEHOUSE_URL: `${gatehouse.url}/v1` }
    expect((await run(['keys', 'list'], { environment: withVersion })).exitCode).toBe(0)
  })

  test.each([
    // More than a pipe holds, so that the program still writes when its reader leaves.
    ['call demo "repeat 20000 words"', '> >(head -c 5 > /dev/null)'],
    // Fits into a pipe: the reader is gone before the program starts.
    ['usage export --focus', '> >(exit); wait $!'],
  ])('a reader that leaves early ends "%s" without a message', async (command, reader) => {
    const { PATH = '', HOME = '' } = process.env
    const shell = Bun.spawn(
      ['bash', '-c', `exec 3>&1 ${reader}; "${PROGRAM.join('" "')}" ${command}; echo $? >&3`],
      {
        env: { PATH, HOME, ...environment },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    expect([await shell.stdout.text(), await shell.stderr.text()]).toEqual(['141\n', ''])
  })

  test('a stream that breaks is a failure', async () => {
    await run(['gates', 'create', 'cut', '--target', 'sandbox/cut-mid-stream'], { environment })
    expect((await runCli(['call', 'cut', 'Hello'], { environment })).exitCode).toBe(1)
  })

  test('a wrong key differs from a missing one and from a server that does not answer', async () => {
    const wrong = await run(['keys', 'list'], {
      environment: { ...environment, GATEHOUSE_API_KEY: createBootstrapKey() },
    })
    expect(wrong).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(
        `Invalid API key. GATEHOUSE_API_KEY holds none of ${gatehouse.url}`,
      ),
    })
    const missing = await run(['keys', 'list'], { environment: { GATEHOUSE_URL: gatehouse.url } })
    expect(missing).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('GATEHOUSE_API_KEY is not set'),
    })
    const gone = await run(['keys', 'list'], {
      environment: { ...environment, GATEHOUSE_URL: 'http://127.0.0.1:1' },
    })
    expect(gone).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('No gateway answers'),
    })
  })

  test('a second process on one folder is refused, with its holder and the way to reach it', async () => {
    const folder = { GATEHOUSE_DATA_DIR: gatehouse.dataFolder }
    const local = await runCli(['keys', 'list'], { environment: folder })
    expect(local).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`GATEHOUSE_URL=${gatehouse.url}`),
    })
    const second = await runCli(['serve', '--port', '0'], { environment: folder })
    expect(second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(gatehouse.url) })
  })
})
