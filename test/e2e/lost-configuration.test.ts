/**
 * A configuration file that is gone or emptied: a running server keeps its plans, and a start
 * without it stops, because every account would be unlimited.
 */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { boundToTest } from '../support/bound-to-test.ts'
import { pollUntil } from '../support/poll-until.ts'
import { PROGRAM } from '../support/program.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// Each test starts the program several times.
setDefaultTimeout(180_000)

const PLANS = 'plans: {default: small, definitions: {small: {requestsPerMinute: 7}}}\n'
const KEY = createBootstrapKey()
/** Nothing but the file decides what a key may. */
const QUIET = { GATEHOUSE_REQUESTS_PER_MINUTE: '', GATEHOUSE_CONCURRENT_CALLS: '' }

let folder: TemporaryFolder
let data: string
let named: string
let running: Gatehouse | undefined
beforeEach(async () => {
  folder = await createTemporaryFolder()
  data = join(folder.path, 'data')
  named = join(folder.path, 'operators.yaml')
  await mkdir(data)
})
afterEach(async () => {
  await running?.remove()
  running = undefined
  await folder.remove()
})

async function start(environment: Record<string, string> = {}): Promise<Gatehouse> {
  running = await startGatehouse({
    sandbox: true,
    dataFolder: data,
    key: KEY,
    environment: { ...QUIET, ...environment },
  })
  return running
}

async function limitOf({ url, key }: Gatehouse): Promise<string | null> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.arrayBuffer()
  return response.headers.get('x-ratelimit-limit-requests')
}

/** To its own end, which comes soon where it refuses to serve. */
async function refusedStart(environment: Record<string, string> = {}, options: string[] = []) {
  const child = Bun.spawn(boundToTest([...PROGRAM, 'serve', ...options]), {
    cwd: resolve(import.meta.dir, '../..'),
    env: {
      PATH: process.env.PATH ?? '',
      GATEHOUSE_PORT: '0',
      GATEHOUSE_DATA_DIR: data,
      ...environment,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { output, errors, code }
}

/** A start that says so and ends; its option is what the message names. */
async function forgetWith(option: string): Promise<void> {
  const child = Bun.spawn(boundToTest([...PROGRAM, 'serve', option]), {
    cwd: resolve(import.meta.dir, '../..'),
    env: { PATH: process.env.PATH ?? '', GATEHOUSE_PORT: '0', GATEHOUSE_DATA_DIR: data },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  for await (const piece of child.stdout)
    if (Buffer.from(piece).includes('listening on')) child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
}

test('a start whose file is gone stops, names it and --forget-config, and one with that starts', async () => {
  const path = join(data, 'gatehouse.yaml')
  await writeFile(path, PLANS)
  expect(await limitOf(await start())).toBe('7')
  await running?.stop()
  await rm(path)

  const { errors, output, code } = await refusedStart()
  expect({ code, output }).toEqual({ code: 1, output: '' })
  expect(errors).toContain(
    `The configuration file ${path}, which this server had before, is missing`,
  )
  expect(errors).toContain('gatehouse serve --forget-config')

  await forgetWith('--forget-config')
  expect(await limitOf(await start())).toBeNull()
})

test('a start whose file is put back needs nothing else', async () => {
  const path = join(data, 'gatehouse.yaml')
  await writeFile(path, PLANS)
  await (await start()).stop()
  await rename(path, `${path}.away`)
  expect((await refusedStart()).code).toBe(1)
  await rename(`${path}.away`, path)
  expect(await limitOf(await start())).toBe('7')
})

test.each([
  { emptied: ['', '# every line of it is a comment\n'] },
  { emptied: ['plans: {}\n', 'providers: []\n'] },
])('a start whose file says nothing any more stops: %j', async ({ emptied }) => {
  await writeFile(named, PLANS)
  await (await start({ GATEHOUSE_CONFIG: named })).stop()
  for (const text of emptied) {
    await writeFile(named, text)
    const { errors, code } = await refusedStart({ GATEHOUSE_CONFIG: named })
    expect(code).toBe(1)
    expect(errors).toContain(`The configuration file ${named} is empty, and had settings before`)
    expect(errors).toContain('--forget-config')
  }
})

test('a start without the variable that named the file stops, and says which variable', async () => {
  await writeFile(named, PLANS)
  await (await start({ GATEHOUSE_CONFIG: named })).stop()
  const { errors, code } = await refusedStart()
  expect(code).toBe(1)
  expect(errors).toContain(`Set GATEHOUSE_CONFIG=${named}`)

  await rm(named)
  const gone = await refusedStart({ GATEHOUSE_CONFIG: named })
  expect(gone.code).toBe(1)
  expect(gone.errors).toContain(named)
  expect(gone.errors).toContain('--forget-config')
})

test('a file that was moved, or changed on purpose, is taken from where it is now', async () => {
  await writeFile(join(data, 'gatehouse.yaml'), PLANS)
  await (await start()).stop()
  await rename(join(data, 'gatehouse.yaml'), named)
  await (await start({ GATEHOUSE_CONFIG: named })).stop()
  await writeFile(named, 'logLevel: info\n')
  expect(await limitOf(await start({ GATEHOUSE_CONFIG: named }))).toBeNull()
})

test('a server that never had a file starts without one, and with an empty one', async () => {
  await (await start()).stop()
  await writeFile(named, '')
  await (await start({ GATEHOUSE_CONFIG: named })).stop()
  await (await start()).stop()
  expect(await readdir(data)).not.toContain('configuration.json')
})

test('SIGHUP without the file, or with an empty one, keeps the plans, logs an error and counts it', async () => {
  await writeFile(named, PLANS)
  const token = { authorization: 'Bearer planted-metrics-token' }
  const server = await start({
    GATEHOUSE_CONFIG: named,
    GATEHOUSE_METRICS_TOKEN: 'planted-metrics-token',
  })
  const refused = async () =>
    /^gatehouse_config_reloads_refused_total (\d+)$/m.exec(
      await (await fetch(`${server.url}/metrics`, { headers: token })).text(),
    )?.[1]
  expect(await refused()).toBe('0')

  const losses: readonly (readonly [() => Promise<void>, string])[] = [
    [() => writeFile(named, ''), 'is empty, and had settings before'],
    [() => writeFile(named, '# plans:\n#   default: small\n'), 'is empty, and had settings before'],
    [() => rm(named), 'cannot be read (ENOENT)'],
  ]
  for (const [index, [lose, said]] of losses.entries()) {
    await lose()
    server.signal('SIGHUP')
    await pollUntil('the refusal is counted', async () => (await refused()) === String(index + 1))
    const line = server
      .output()
      .split('\n')
      .findLast((each) => each.includes('nothing has changed'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      level: 50,
      reason: expect.stringContaining(said),
    })
    expect(await limitOf(server)).toBe('7')
  }

  await writeFile(named, PLANS.replace('7', '9'))
  server.signal('SIGHUP')
  await pollUntil('the file is taken', async () => (await limitOf(server)) === '9')
})

test('a file that came with SIGHUP is remembered too', async () => {
  const path = join(data, 'gatehouse.yaml')
  const server = await start()
  await writeFile(path, PLANS)
  server.signal('SIGHUP')
  await pollUntil('the file is taken', async () => (await limitOf(server)) === '7')
  await pollUntil('the file is recorded', async () =>
    (await readdir(data)).includes('configuration.json'),
  )
  await server.stop()
  await rm(path)
  expect((await refusedStart()).errors).toContain(
    `${path}, which this server had before, is missing`,
  )
})
