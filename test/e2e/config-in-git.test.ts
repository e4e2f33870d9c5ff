/**
 * `gatehouse config`: what is on a server as a file, the difference told, and a server made as the
 * file says.
 */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunOptions, runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const FILE = 'gatehouse.config.yaml'

let work: TemporaryFolder
/** Both are empty when a test begins. */
let server: Gatehouse
let other: Gatehouse
beforeAll(async () => {
  server = await startServer()
  other = await startServer()
})
beforeEach(async () => {
  work = await createTemporaryFolder()
})
afterEach(async () => {
  await work.remove()
  for (const each of [server, other]) await empty(each)
})
afterAll(async () => {
  await server?.remove()
  await other?.remove()
})

async function empty(on: Gatehouse): Promise<void> {
  for (const path of ['/v1/budgets', '/v1/webhooks', '/v1/gates', '/v1/owned-models', '/v1/tags']) {
    const { data } = (await ask('GET', `${path}?limit=200`, undefined, on)) as {
      data: { id?: string; slug?: string }[]
    }
    for (const { id, slug } of data) await ask('DELETE', `${path}/${slug ?? id}`, undefined, on)
  }
}

function startServer(): Promise<Gatehouse> {
  return startGatehouse({ environment: { GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1' } })
}

function environmentOf({ url, key }: Gatehouse): Record<string, string> {
  return { GATEHOUSE_URL: url, GATEHOUSE_API_KEY: key }
}

interface Options extends Partial<RunOptions> {
  readonly on?: Gatehouse
  /** In this process, unless what a shell sees is the point. */
  readonly how?: typeof runCli
}

const run = (words: string, options: Options = {}) =>
  (options.how ?? runCliInProcess)(words.split(' '), {
    folder: work.path,
    ...options,
    environment: { ...environmentOf(options.on ?? server), ...options.environment },
  })
const write = (text: string) => Bun.write(join(work.path, FILE), text)
const read = () => Bun.file(join(work.path, FILE)).text()

async function ask(method: string, path: string, body?: object, on = server): Promise<unknown> {
  const response = await fetch(on.url + path, {
    method,
    headers: { authorization: `Bearer ${on.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.status === 204 ? undefined : await response.json()
}
async function gateIds(on = server): Promise<string[]> {
  const { data } = (await ask('GET', '/v1/gates?limit=200', undefined, on)) as {
    data: { id: string }[]
  }
  return data.map((gate) => gate.id).toSorted()
}

const TWO_GATES = `version: 1
gates:
  - id: brief
    targets: [{model: sandbox/echo}, {model: openai/gpt-5, weight: 3}]
    strategy: weighted
    defaults:
      temperature: 0
      instructions: |
        Be brief.
        Be kind.
  - id: plain
    targets: [{model: sandbox/echo}]
`

test('a fuse is applied, written without its defaults, changed and removed', async () => {
  const fuseOf = async () => ((await ask('GET', '/v1/gates/brief')) as { fuse: unknown }).fuse
  const withFuse = (fuse: string) => TWO_GATES.replace('strategy:', `${fuse}\n    strategy:`)
  await write(withFuse('fuse: {usd: 20, callsPerMinute: null, forMinutes: 5}'))
  await run('config push')
  expect(await fuseOf()).toEqual({ usd: 20, callsPerMinute: null, forMinutes: 5 })
  await run('config pull')
  expect(await read()).toContain('    fuse:\n      usd: 20\n  - id: plain')
  expect(await run('config push', { on: other })).toMatchObject({ exitCode: 0 })
  const pulled = await run('config pull --file -', { on: other })
  expect(pulled.stdout).toBe(await read())
  await write(withFuse('fuse: {callsPerMinute: 60}'))
  expect((await run('config diff')).stdout).toContain('    + fuse.callsPerMinute: 60\n')
  await run('config push')
  expect(await fuseOf()).toEqual({ usd: null, callsPerMinute: 60, forMinutes: 5 })
  await write(TWO_GATES)
  await run('config push')
  expect(await fuseOf()).toBeNull()
  await write(withFuse('fuse: {forMinutes: 3}'))
  expect(await run('config push')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('must set usd or callsPerMinute'),
  })
})

test('pull → push to an empty server → pull gives the same text, in any order of creation', async () => {
  await write(TWO_GATES)
  expect(await run('config push', { how: runCli })).toMatchObject({ exitCode: 0, stderr: '' })
  await ask('POST', '/v1/gates', {
    id: 'a',
    targets: [{ model: 'sandbox/echo', weight: 1 }],
    maxRetries: 2,
  })
  expect(await run('config pull', { how: runCli })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('gates 3'),
  })
  const text = await read()
  expect(text).toMatch(/^# /)
  expect(text).not.toMatch(/displayName|hedgeAfterMs|createdAt|weight: 1$/m)
  expect(await run('config push', { on: other })).toMatchObject({ exitCode: 0 })
  expect(await run('config pull --file -', { on: other })).toEqual({
    exitCode: 0,
    stdout: text,
    stderr: '',
  })
  expect(await run('config diff', { on: other })).toMatchObject({ exitCode: 0 })
  const asJson = await run('config pull --file - --json', { on: other })
  expect(JSON.parse(asJson.stdout)).toMatchObject({ version: 1 })
  expect(await run('config diff --file -', { on: other, input: asJson.stdout })).toMatchObject({
    exitCode: 0,
    stdout: 'The server matches standard input.\n',
  })
})

test('diff shows field by field what push would do, with exit code 1, and a second push changes nothing', async () => {
  await write(TWO_GATES)
  await run('config push')
  await ask('POST', '/v1/gates', { id: 'only-here', targets: [{ model: 'sandbox/echo' }] })
  await write(
    `${TWO_GATES.replace('kind', 'exact').replace('temperature: 0', 'topP: 1')}    maxRetries: 2\n  - id: new\n    targets: [{model: sandbox/echo}]\n`,
  )
  const told = await run('config diff', { how: runCli })
  expect(told).toEqual({
    exitCode: 1,
    stderr: '',
    stdout: `~ gate brief
      defaults.instructions (from line 2 on):
    -   Be kind.
    +   Be exact.
    - defaults.temperature: 0
    + defaults.topP: 1
~ gate plain
    - maxRetries: 0
    + maxRetries: 2
+ gate new
    + targets: [{"model":"sandbox/echo"}]
- gate only-here (only on the server)
`,
  })
  const { changes } = JSON.parse((await run('config diff --json')).stdout)
  expect(changes).toContainEqual({
    action: 'update',
    resource: 'gates',
    name: 'plain',
    fields: [{ field: 'maxRetries', from: 0, to: 2 }],
  })
  expect(changes.at(-1)).toEqual({
    action: 'delete',
    resource: 'gates',
    name: 'only-here',
    fields: [],
  })

  const dry = await run('config push --dry-run')
  expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Nothing was changed') })
  expect(await gateIds()).toEqual(['brief', 'only-here', 'plain'])
  expect(await run('config push')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Done: 1 created, 2 changed.'),
    stderr: expect.stringContaining('--prune'),
  })
  expect(await run('config push')).toMatchObject({ exitCode: 0, stdout: 'Nothing to change.\n' })
  expect(await gateIds()).toEqual(['brief', 'new', 'only-here', 'plain'])
  expect(await ask('GET', '/v1/gates/brief')).toMatchObject({
    defaults: { instructions: 'Be brief.\nBe exact.\n', topP: 1 },
  })
})

test('entries missing from the file go with --prune and a yes, in the sections of the file', async () => {
  await write(TWO_GATES)
  await run('config push')
  await write('version: 1\n')
  expect(await run('config push --prune --yes')).toMatchObject({
    exitCode: 0,
    stdout: 'Nothing to change.\n',
  })
  await write('version: 1\ngates: []\n')
  const unasked = await run('config push --prune', { how: runCli })
  expect(unasked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') })
  expect(await gateIds()).toEqual(['brief', 'plain'])
  const pruned = await run('config push --prune --yes --json')
  expect(JSON.parse(pruned.stdout).changes).toMatchObject([
    { action: 'delete', status: 'done' },
    { action: 'delete', status: 'done' },
  ])
  expect(await gateIds()).toEqual([])
})

describe('an invalid file changes nothing, and every fault is reported with its line', () => {
  const GOOD = '  - id: good\n    targets: [{model: sandbox/echo}]\n'
  test.each([
    ['no version', `gates:\n${GOOD}`, [':1: version is required']],
    ['another version', `version: 2\ngates:\n${GOOD}`, [':1: version must be 1']],
    [
      'an unknown section',
      `version: 1\ngates:\n${GOOD}gats: []\n`,
      [':5: gats is not a known field'],
    ],
    ['no YAML', `version: 1\ngates: [\n`, [': is not valid YAML here']],
    ['a list', '- 1\n', ['the file must be an object']],
    ['nothing', '', [':1: version is required']],
    [
      'faults in several places',
      `version: 1\ngates:\n${GOOD}  - id: bad id\n    targets:\n      - model: sandbox/echo\n    maxRetries: 9\n`,
      [':5: gates[1].id must be', ':8: gates[1].maxRetries must be at most 5'],
    ],
    [
      'a target of an unknown provider',
      `version: 1\ngates:\n${GOOD}  - id: x\n    targets:\n      - model: nobody/x\n      - model: owned/none\n`,
      [
        ':7: gates[1].targets[0].model names no provider',
        ':8: gates[1].targets[1].model names no owned model',
      ],
    ],
    [
      'an id twice',
      `version: 1\ngates:\n${GOOD}${GOOD}`,
      [':5: gates[1].id is in this file already, in line 3'],
    ],
    [
      'a member that the gateway sets',
      `version: 1\ngates:\n${GOOD}    createdAt: x\n`,
      [':5: gates[0].createdAt is set by the gateway'],
    ],
    [
      'a credential',
      `version: 1\ngates:\n${GOOD}ownedModels:\n  - slug: x\n    credential: planted-secret\n`,
      [
        ':7: ownedModels[0].credential must not be here',
        'gatehouse owned-models update SLUG --credential',
      ],
    ],
    [
      'a secret',
      `version: 1\ngates:\n${GOOD}webhooks:\n  - url: https://example.com\n    secret: planted-secret\n    events: [budget.exhausted]\n`,
      [':7: webhooks[0].secret must not be here', 'gatehouse webhooks update ID --secret'],
    ],
    [
      'an unknown member',
      `version: 1\ngates:\n${GOOD}    apiKey: planted-secret\n`,
      [':5: gates[0].apiKey is not a known field'],
    ],
    [
      'a tag twice',
      `version: 1\ngates:\n${GOOD}tags:\n  - name: live\n  - name: dead\n  - name: live\n`,
      [':8: tags[2].name is in this file already, in line 6'],
    ],
    [
      'an id of a tag, and a name that none may have',
      `version: 1\ngates:\n${GOOD}tags:\n  - name: not one\n    id: tag_1\n`,
      [':6: tags[0].name must be 1 to 64 letters', ':7: tags[0].id is set by the gateway'],
    ],
    [
      'a budget of a key',
      `version: 1\ngates:\n${GOOD}budgets:\n  - keyId: key_1\n    limitUsd: 1\n    period: day\n`,
      [':6: budgets[0].keyId must not be here'],
    ],
  ])('%s', async (_name, text, said) => {
    await write(text)
    for (const words of ['config push --prune --yes', 'config diff']) {
      const ran = await run(words)
      expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
      for (const part of said) expect(ran.stderr).toContain(part)
      expect(ran.stderr).not.toContain('planted')
    }
    expect(await gateIds()).toEqual([])
  })
})

test('pull replaces its own file, keeps its mode, and does not overwrite another file', async () => {
  await run('config pull')
  await chmod(join(work.path, FILE), 0o640)
  await ask('POST', '/v1/gates', { id: 'a', targets: [{ model: 'sandbox/echo' }] })
  expect(JSON.parse((await run('config pull --json')).stdout)).toMatchObject({
    file: FILE,
    gates: 1,
  })
  expect((await stat(join(work.path, FILE))).mode & 0o777).toBe(0o640)
  await write('providers: []\n')
  expect(await run('config pull')).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('not written over'),
  })
  expect(await read()).toBe('providers: []\n')
})

test('pull into a pipe writes into it, and leaves it a pipe', async () => {
  await run('config pull')
  const pipe = join(work.path, 'pipe')
  await Bun.$`mkfifo ${pipe}`
  const reader = Bun.spawn(['cat', pipe], { stdout: 'pipe' })
  expect(await run('config pull --file pipe', { how: runCli })).toMatchObject({ exitCode: 0 })
  expect(await reader.stdout.text()).toBe(await read())
  expect((await stat(pipe)).isFIFO()).toBe(true)
})

test('a missing file or server is reported with the way out', async () => {
  for (const words of ['config push', 'config diff'])
    expect(await run(words)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--file'),
    })
  await write(TWO_GATES)
  const gone = await startServer()
  await gone.stop()
  expect(await run('config push', { on: gone })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('running'),
  })
  await gone.remove()
})

test('an endless file is refused before it is parsed', async () => {
  expect(await run('config push --file /dev/zero')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('/dev/zero has more than 64 MiB'),
  })
  const input = 'x'.repeat(65 * 1024 * 1024)
  expect(await run('config push --file -', { input, how: runCli })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('standard input has more than 64 MiB'),
  })
})

test('push stops at the first refusal and reports the done and the open changes', async () => {
  await write(`version: 1\ngates:\n${['a', 'b', 'c'].map(plainGate).join('')}`)
  // A server that refuses what the file cannot know: the second creation.
  let creations = 0
  const front = Bun.serve({
    port: 0,
    async fetch(request) {
      if (request.method === 'POST' && ++creations === 2)
        return Response.json({ error: 'conflict', message: 'Taken.' }, { status: 409 })
      const { pathname, search } = new URL(request.url)
      return await fetch(`${server.url}${pathname}${search}`, {
        method: request.method,
        headers: request.headers,
        ...(request.body === null ? {} : { body: await request.arrayBuffer() }),
      })
    },
  })
  try {
    const environment = { GATEHOUSE_URL: front.url.href }
    const ran = await run('config push --json', { environment })
    expect(ran.exitCode).toBe(5)
    expect(JSON.parse(ran.stdout).changes).toMatchObject([
      { name: 'a', status: 'done' },
      { name: 'b', status: 'failed' },
      { name: 'c', status: 'not done' },
    ])
    expect(JSON.parse(ran.stderr)).toMatchObject({
      message: expect.stringContaining('at the gate b'),
    })
    const again = await run('config push', { environment })
    expect(again).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Done: 2 created.'),
    })
    expect(await gateIds()).toEqual(['a', 'b', 'c'])
  } finally {
    await front.stop(true)
  }
})

function plainGate(id: string): string {
  return `  - id: ${id}\n    targets: [{model: sandbox/echo}]\n`
}

test.each(['look', 'change'])(
  'what somebody else changes before the %s of a push is not overwritten, and stops it',
  async (moment) => {
    const gate = { id: 'shared', targets: [{ model: 'openai/gpt-5' }] }
    await ask('POST', '/v1/gates', gate)
    let isDone = false
    const between = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        const isIt = request.method === (moment === 'look' ? 'GET' : 'PATCH')
        if (!isDone && isIt && pathname === '/v1/gates/shared') {
          isDone = true
          await ask('PATCH', pathname, { targets: [{ model: 'openai/theirs' }] })
        }
        const { method, headers } = request
        const body = method === 'GET' ? {} : { body: await request.text() }
        return await fetch(`${server.url}${pathname}${search}`, { method, headers, ...body })
      },
    })
    try {
      await write('version: 1\ngates:\n  - id: shared\n    targets: [{ model: openai/mine }]\n')
      const pushed = await run('config push', {
        environment: { GATEHOUSE_URL: between.url.href.slice(0, -1) },
      })
      expect(isDone).toBeTrue()
      expect([pushed.exitCode, pushed.stderr]).toEqual([
        5,
        expect.stringMatching(moment === 'look' ? /has changed the gate/ : /is not the version/),
      ])
      const kept = (await ask('GET', '/v1/gates/shared')) as typeof gate
      expect(kept.targets).toEqual([{ model: 'openai/theirs' }])
    } finally {
      await between.stop(true)
    }
  },
)

test('it works on a local data folder too, and reads the file from standard input', async () => {
  const folder = await createTemporaryFolder()
  const environment = { GATEHOUSE_DATA_DIR: folder.path, GATEHOUSE_URL: '', GATEHOUSE_API_KEY: '' }
  const pushed = await run('config push --file -', { environment, input: TWO_GATES, how: runCli })
  expect(pushed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Done: 2 created.') })
  expect((await run('config diff --file -', { environment, input: TWO_GATES })).exitCode).toBe(0)
  await folder.remove()
})

const WITH_BUDGETS = `version: 1
gates:
  - id: house
    targets: [{model: sandbox/echo}]
budgets:
  - gateId: house
    limitUsd: 5
    period: month
  - gateId: house
    limitTokens: 1000
    period: day
    name: daily
  - scope: account
    limitUsd: 100
    period: month
webhooks:
  - url: https://example.com/hook
    events: [budget.threshold, budget.exhausted]
`

test('budgets of gates and webhooks are kept too, by their purpose, and no secret is shown', async () => {
  await write(WITH_BUDGETS)
  const pushed = await run('config push')
  expect(pushed).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Done: 5 created.'),
    stderr: expect.stringMatching(
      /has a secret that nobody knows.*gatehouse webhooks update wh_\w+ --secret/,
    ),
  })
  expect(await run('config push')).toMatchObject({ exitCode: 0, stdout: 'Nothing to change.\n' })
  const { data } = (await ask('GET', '/v1/keys')) as { data: { id: string }[] }
  await ask('POST', '/v1/budgets', { keyId: data[0]?.id, limitTokens: 1, period: 'total' })
  const pulled = await run('config pull')
  expect(pulled.stderr).toContain('1 budget of a key or a member is left out')
  const text = await read()
  expect(text).not.toContain('key_')
  await run('config push', { on: other })
  expect((await run('config pull --file -', { on: other })).stdout).toBe(text)
  await write(
    text.replace('limitUsd: 5', 'limitUsd: 6').replace('- budget.threshold', '- provider.degraded'),
  )
  expect(await run('config push')).toMatchObject({
    stdout: expect.stringContaining('Done: 2 changed.'),
  })
  await write('version: 1\ngates: []\nbudgets: []\nwebhooks: []\n')
  expect(await run('config push --prune --yes')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Done: 5 deleted.'),
  })
  const kept = (await ask('GET', '/v1/budgets')) as { data: object[] }
  expect(kept.data).toMatchObject([{ gateId: null, limitTokens: 1 }])
})

test('a file names the rule for unpriced models, and leaves it as it is if the file has none', async () => {
  await write(WITH_BUDGETS)
  await run('config push')
  const budgets = async () => {
    const { data } = (await ask('GET', '/v1/budgets')) as {
      data: { id: string; gateId: string | null; limitUsd: number | null; unpriced: string }[]
    }
    return data.find(({ gateId, limitUsd }) => gateId === 'house' && limitUsd === 5)
  }
  await ask('PATCH', `/v1/budgets/${(await budgets())?.id}`, { unpriced: 'refuse' })
  // A file of an earlier version, whose default was another.
  expect(await run('config push')).toMatchObject({ stdout: 'Nothing to change.\n' })
  expect(await budgets()).toMatchObject({ unpriced: 'refuse' })
  await run('config pull')
  expect(await read()).toContain('unpriced: refuse')
  expect(await read()).toContain('unpriced: estimate')
  await write((await read()).replace('unpriced: refuse', 'unpriced: allow'))
  expect(await run('config push')).toMatchObject({
    stdout: expect.stringContaining('Done: 1 changed.'),
  })
  expect(await budgets()).toMatchObject({ unpriced: 'allow' })
})

test('tags are kept by their names: a new description keeps the tag, another name is another tag', async () => {
  const text =
    'version: 1\ntags:\n  - name: live\n    description: What customers see\n  - name: try\n'
  await write(text)
  expect(await run('config push')).toMatchObject({
    exitCode: 0,
    stdout: `+ tag live
    + description: "What customers see"
+ tag try
Done: 2 created.
`,
  })
  expect(await run('config push')).toMatchObject({ exitCode: 0, stdout: 'Nothing to change.\n' })
  await run('config push', { on: other })
  await run('config pull')
  const pulled = await read()
  expect(pulled).toContain(text.slice(text.indexOf('tags:')))
  expect((await run('config pull --file -', { on: other })).stdout).toBe(pulled)
  const before = await tagIds()
  await write(text.replace('customers', 'people').replace('try', 'trial'))
  expect(await run('config diff')).toMatchObject({
    exitCode: 1,
    stdout: `~ tag live
    - description: "What customers see"
    + description: "What people see"
+ tag trial
- tag try (only on the server)
`,
  })
  expect(await run('config push --prune --yes')).toMatchObject({
    stdout: expect.stringContaining('Done: 1 created, 1 changed, 1 deleted.'),
  })
  const after = await tagIds()
  expect(Object.keys(after).toSorted()).toEqual(['live', 'trial'])
  expect(after.live).toBe(before.live)
  await write('version: 1\n')
  await run('config push --prune --yes')
  expect(await tagIds()).toEqual(after)
})

async function tagIds(): Promise<Record<string, string>> {
  const { data } = (await ask('GET', '/v1/tags')) as { data: { id: string; name: string }[] }
  return Object.fromEntries(data.map(({ id, name }) => [name, id]))
}

test('a budget names an existing gate, and two alike stay two', async () => {
  await write(`${WITH_BUDGETS}  - url: https://example.com/hook\n    events: [budget.exhausted]\n`)
  expect(await run('config push')).toMatchObject({
    stdout: expect.stringContaining('Done: 6 created.'),
  })
  expect(await run('config push')).toMatchObject({ stdout: 'Nothing to change.\n' })
  await write(WITH_BUDGETS.replaceAll('gateId: house', 'gateId: none'))
  expect(await run('config push')).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(`${FILE}:6: budgets[0].gateId names no gate`),
  })
})

test('a budget that outlives its gate is pulled with a note, and the file stays usable', async () => {
  await write(WITH_BUDGETS)
  await run('config push')
  const deletion = await run('gates delete house --yes')
  expect(deletion.stdout).toBe('Deleted house.\n')
  expect(deletion.stderr).toMatch(
    /budget bud_\w+ of the gate stays, .*gatehouse budgets delete bud_/,
  )
  expect(await run('config pull')).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/budget bud_\w+ limits the gate 'house', which was deleted/),
  })
  expect(await run('config diff')).toMatchObject({ exitCode: 0 })
  expect(await run('config push')).toMatchObject({ stdout: 'Nothing to change.\n' })
})

test('a budget is refused if the same push deletes its gate', async () => {
  await write(WITH_BUDGETS)
  await run('config push')
  await write(WITH_BUDGETS.replace('id: house', 'id: other'))
  expect(await run('config push --prune --yes')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('gateId names no gate'),
  })
})

const OWNED = `version: 1
ownedModels:
  - slug: house-llama
    dialect: openai-chat
    baseUrl: http://127.0.0.1:9/v1
    upstreamModelId: llama
    pricingInput: 10
    pricingOutput: 20
gates:
  - id: house
    targets: [{model: owned/house-llama}]
`

test('an owned model is created without a credential if its variable is empty', async () => {
  await write(OWNED)
  const pushed = await run('config push', {
    environment: { OWNED_MODEL_HOUSE_LLAMA_CREDENTIAL: '' },
  })
  expect(pushed).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(
      'The owned model house-llama was created without a credential.',
    ),
  })
  await write('version: 1\nownedModels: []\ngates: []\n')
  expect(await run('config push --prune --yes')).toMatchObject({ exitCode: 0 })
})

test('owned models are created before gates and deleted after them; their credentials are variables', async () => {
  await write(OWNED)
  const withoutCredential = await run('config push')
  expect(withoutCredential).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('OWNED_MODEL_HOUSE_LLAMA_CREDENTIAL'),
  })
  expect(await gateIds()).toEqual([])
  const environment = { OWNED_MODEL_HOUSE_LLAMA_CREDENTIAL: 'planted-credential' }
  const pushed = await run('config push', { environment })
  expect(pushed).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Done: 2 created.'),
    stderr: expect.stringContaining('owned model house-llama: '),
  })
  expect(await run('config push')).toMatchObject({ exitCode: 0, stdout: 'Nothing to change.\n' })
  await run('config pull')
  const text = await read()
  expect(text + pushed.stdout + pushed.stderr).not.toContain('planted')
  await run('config push', { on: other, environment })
  expect((await run('config pull --file -', { on: other })).stdout).toBe(text)
  await write(text.replace('http://127.0.0.1:9/v1', 'http://127.0.0.1:10/v1'))
  expect(await run('config push')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('ownedModels[0].baseUrl cannot be changed'),
  })
  await write(text.replace('pricingInput: 10', 'pricingInput: 11'))
  expect(await run('config push')).toMatchObject({
    stdout: expect.stringContaining('Done: 1 changed.'),
  })
  await write('version: 1\nownedModels: []\ngates: []\n')
  expect(await run('config push --prune --yes')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('Done: 2 deleted.'),
  })
})

test('a name moves from one gate to another in one push, whichever comes first in the file', async () => {
  const gates = (first: string, second: string) =>
    `version: 1\ngates:\n  - id: a\n    targets: [{ model: sandbox/echo }]\n    ${first}\n` +
    `  - id: b\n    targets: [{ model: sandbox/echo }]\n    ${second}\n`
  const holding = 'aliases: [openai/gpt-4.1, { name: "qwen3:8b", isListed: false }]'
  await write(gates('isCatchAll: false', `${holding}\n    isCatchAll: true`))
  expect(await run('config push')).toMatchObject({ exitCode: 0 })
  await run('config pull')
  expect(await read()).toContain('name: openai/gpt-4.1')
  expect(await run('config diff')).toMatchObject({ exitCode: 0 })
  await write(gates(`${holding}\n    isCatchAll: true`, 'isCatchAll: false'))
  expect(await run('config push')).toMatchObject({ exitCode: 0 })
  await write(
    'version: 1\ngates:\n  - id: c\n    targets: [{ model: sandbox/echo }]\n    aliases: [a]\n',
  )
  expect(await run('config push --prune --yes')).toMatchObject({ exitCode: 0 })
  const { data } = (await ask('GET', '/v1/gates')) as { data: object[] }
  expect(data).toMatchObject([{ id: 'c', aliases: [{ name: 'a', isListed: true }] }])
})

test('a name that two gates of the file have is a fault with its line', async () => {
  await write(
    'version: 1\ngates:\n  - id: a\n    targets: [{ model: sandbox/echo }]\n' +
      '  - id: b\n    targets: [{ model: sandbox/echo }]\n    aliases: [a]\n',
  )
  const { exitCode, stderr } = await run('config push')
  expect([exitCode, stderr.includes(`${FILE}:5: gates[1] shares a with gates[0]`)]).toEqual([
    1,
    true,
  ])
})
