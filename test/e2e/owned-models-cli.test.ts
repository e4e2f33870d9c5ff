/** `gatehouse owned-models` as a person or a script uses it, on a local folder. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CHAT_JSON } from '../support/dialect-samples.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const CREDENTIAL = 'canary-typed-by-a-person'

let folder: TemporaryFolder
let upstream: RawUpstream
beforeAll(async () => {
  folder = await createTemporaryFolder()
  upstream = await startRawUpstream()
  upstream.answer(jsonAnswer(200, CHAT_JSON))
})
afterAll(async () => {
  await upstream.stop()
  await folder.remove()
})

async function run(words: readonly string[], input = '', how: typeof runCli = runCliInProcess) {
  const environment = { GATEHOUSE_DATA_DIR: folder.path, GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' }
  const ran = await how(['owned-models', ...words], { environment, input })
  expect(ran.stdout + ran.stderr).not.toContain('canary')
  return ran
}

const create = (slug: string) => [
  'create',
  slug,
  ...['--dialect', 'openai-chat', '--base-url', `${upstream.url}/v1`, '--model', 'llama3.3'],
  ...['--price-input', '25', '--price-output', '100'],
]

test('a model is registered, listed, shown, changed and deleted, and its credential is never shown', async () => {
  const made = await run([...create('llama'), '--json'], `${CREDENTIAL}\n`, runCli)
  expect(made).toMatchObject({ exitCode: 0, stderr: '' })
  expect(JSON.parse(made.stdout)).toMatchObject({
    slug: 'llama',
    pricingInput: 25,
    pricingOutput: 100,
    pricingCachedInput: 25,
    probe: { status: 'reachable' },
  })
  expect(upstream.last().headers.authorization).toBe(`Bearer ${CREDENTIAL}`)
  expect((await run(['list'])).stdout).toContain('llama  reachable  openai-chat  llama3.3')
  const changed = await run([
    'update',
    'llama',
    '--price-cached-input',
    '5',
    '--name',
    'Llama',
    '--json',
  ])
  expect(JSON.parse(changed.stdout)).toMatchObject({
    pricingCachedInput: 5,
    displayName: 'Llama',
    pricingInput: 25,
  })
  expect((await run(['show', 'llama'])).stdout).toMatch(/target +owned\/llama/)
  expect(await run(['delete', 'llama', '--yes'])).toMatchObject({
    exitCode: 0,
    stdout: 'Deleted llama.\n',
  })
  expect((await run(['show', 'llama'])).exitCode).toBe(4)
})

test('a new credential that its server refuses is stored, with a warning on standard error', async () => {
  await run(create('rotated'), CREDENTIAL)
  upstream.answerOnce(jsonAnswer(401, {}))
  const { exitCode, stderr, stdout } = await run(
    ['update', 'rotated', '--credential', '--json'],
    'canary-new',
  )
  expect(exitCode).toBe(0)
  expect(stderr).toContain('Warning: The model was saved, but a test call to it failed.')
  expect(JSON.parse(stdout)).toMatchObject({ warnings: [{ code: 'probe_failed' }] })
  expect(upstream.last().headers.authorization).toBe('Bearer canary-new')
})

test('a model’s form of fill-in-the-middle is shown, and can be set by hand', async () => {
  const coder = ['create', 'coder', '--dialect', 'mistral-fim', '--base-url', `${upstream.url}/v1`]
  const prices = ['--price-input', '0', '--price-output', '0']
  const made = await run([...coder, '--model', 'mine', ...prices], CREDENTIAL)
  expect(made.stdout).toMatch(/fim +fim-completions \(auto\)/)
  const refused = await run(['update', 'coder', '--fim-endpoint', 'completions-template'])
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toContain('fimTemplate: is required')
  const words = ['--fim-endpoint', 'completions-template', '--fim-template', 'qwen-coder']
  const set = await run(['update', 'coder', ...words])
  expect(set.stdout).toMatch(/fim +completions-template\ntemplate +qwen-coder/)
  expect(upstream.last().path).toBe('/v1/completions')
  expect(upstream.last().text).toContain('<|fim_prefix|>')
})

test('a model is probed again, and a loading one is waited for', async () => {
  await run(create('cold'), CREDENTIAL)
  upstream.answerOnce(jsonAnswer(503, { error: { code: 503, message: 'Loading model' } }))
  const loading = await run(['probe', 'cold'])
  expect(loading).toMatchObject({ exitCode: 0, stderr: '' })
  expect(loading.stdout).toMatch(/test call +loading, /)
  expect(loading.stdout).toContain('The server is loading the model.')

  // Longer than one answer of the control plane takes.
  upstream.answerOnce(async (exchange) => {
    await Bun.sleep(4_000)
    return jsonAnswer(200, CHAT_JSON)(exchange)
  })
  const waited = await run(['probe', 'cold', '--json'])
  expect(waited.exitCode).toBe(0)
  expect(JSON.parse(waited.stdout)).toMatchObject({
    probe: { status: 'reachable', found: { embeddings: false } },
    warnings: [],
  })
})

test('a model needs no credential and no prices: it is called without one, and costs nothing', async () => {
  const least = (slug: string) => create(slug).slice(0, 8)
  // Standard input is not waited for.
  const made = await run([...least('bare'), '--no-credential', '--json'], CREDENTIAL)
  expect(made).toMatchObject({ exitCode: 0, stderr: '' })
  const nothing = {
    credentialSetAt: null,
    pricingInput: 0,
    pricingOutput: 0,
    pricingCachedInput: 0,
  }
  expect(JSON.parse(made.stdout)).toMatchObject({ ...nothing, probe: { status: 'reachable' } })
  expect(upstream.last().headers).not.toHaveProperty('authorization')
  const empty = await run(least('empty'), '')
  expect(empty).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('Without a credential'),
  })
  expect(empty.stdout).toMatch(/^credential {2}none$/m)
})

test('a credential is set later, and removed again with other changes', async () => {
  await run([...create('later'), '--no-credential'])
  const set = await run(['update', 'later', '--credential', '--json'], CREDENTIAL)
  expect(JSON.parse(set.stdout)).toMatchObject({ credentialSetAt: expect.any(String) })
  expect(upstream.last().headers.authorization).toBe(`Bearer ${CREDENTIAL}`)
  const removed = await run(['update', 'later', '--no-credential', '--name', 'Bare', '--json'])
  expect(JSON.parse(removed.stdout)).toMatchObject({ credentialSetAt: null, displayName: 'Bare' })
  expect(upstream.last().headers).not.toHaveProperty('authorization')
  expect(await run(['update', 'later', '--no-credential'])).toMatchObject({ exitCode: 0 })
})

test.each([
  ['a new credential of nothing', () => ['update', 'x', '--credential'], 2, 'credential'],
  ['a credential as an argument', () => ['update', 'x', '--credential', 'word'], 2, 'arguments'],
  ['nothing to change', () => ['update', 'x'], 2, 'nothing to change'],
  ['a price out of range', () => ['update', 'x', '--price-input', '10001'], 2, '0 to 10000'],
  ['no model', () => create('x').slice(0, 6), 2, '--model'],
  ['an invalid dialect', () => ['create', 'x', '--dialect', 'odd'], 2, 'openai-chat'],
])('%s is reported', async (_what, words, exitCode, said) => {
  const ran = await run(words())
  expect(ran.exitCode).toBe(exitCode)
  expect(ran.stderr).toContain(said)
})
