/**
 * `gatehouse gates` and `budgets` with a fuse: set, changed in part, removed; its stops listed and
 * lifted.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { controlPlaneCall } from '../support/control-plane.ts'
import { pollUntil } from '../support/poll-until.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

setDefaultTimeout(180_000)

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await controlPlaneCall(gatehouse, 'PATCH', '/v1/account/attribution', {
    endUsers: true,
    peopleFigures: 'administrators',
  })
})
afterAll(() => gatehouse.remove())

const run = (...words: string[]) =>
  runCliInProcess(words, {
    environment: { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: gatehouse.key },
  })

const gates = (...words: string[]) => run('gates', ...words)

async function fuseAfter(...words: string[]) {
  const { stdout, stderr, exitCode } = await run(...words, '--json')
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  return (JSON.parse(stdout) as { fuse: unknown }).fuse
}

const call = (model: string, names: Readonly<Record<string, string>>) =>
  fetch(`${gatehouse.url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gatehouse.key}`,
      'content-type': 'application/json',
      ...names,
    },
    body: JSON.stringify({ model, input: 'x' }),
  })

async function callUntilStopped(model: string, names: Readonly<Record<string, string>>) {
  await pollUntil('the fuse to stop the calls', async () => {
    const response = await call(model, names)
    await response.text()
    return response.status === 403
  })
}

test('a fuse is set, changed in part, replaced and removed', async () => {
  const target = ['--target', 'sandbox/echo']
  expect(await fuseAfter('gates', 'create', 'fused', ...target, '--fuse-usd', '20')).toEqual({
    usd: 20,
    callsPerMinute: null,
    forMinutes: 5,
  })
  expect(
    await fuseAfter('gates', 'update', 'fused', '--fuse-calls', '60', '--fuse-minutes', '1'),
  ).toEqual({
    usd: 20,
    callsPerMinute: 60,
    forMinutes: 1,
  })
  expect((await gates('show', 'fused')).stdout).toMatch(
    /^fuse +stops a session or user above \$20 within an hour or 60 calls a minute for one minute$/m,
  )
  expect(await fuseAfter('gates', 'update', 'fused', '--max-retries', '1')).toMatchObject({
    usd: 20,
  })
  expect(await fuseAfter('gates', 'update', 'fused', '--clear-fuse', '--fuse-calls', '9')).toEqual({
    usd: null,
    callsPerMinute: 9,
    forMinutes: 5,
  })
  expect(await fuseAfter('gates', 'update', 'fused', '--clear-fuse')).toBeNull()
  expect((await gates('show', 'fused')).stdout).toMatch(/^fuse +none$/m)
})

test.each([
  ['an amount of nothing', ['--fuse-usd', '0'], 2, 'from 0.01'],
  ['no whole number of calls', ['--fuse-calls', '1.5'], 2, 'whole number'],
  ['too many minutes', ['--fuse-minutes', '61'], 2, 'from 1 to 60'],
  ['minutes alone', ['--fuse-minutes', '3'], 1, 'must set usd or callsPerMinute'],
])('a fuse with %s is refused', async (_, words, exitCode, why) => {
  const ran = await gates('create', 'refused', '--target', 'sandbox/echo', ...words)
  expect(ran).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(why) })
})

async function countStops(): Promise<unknown> {
  const response = await controlPlaneCall(gatehouse, 'GET', '/v1/fuse-stops')
  return ((await response.json()) as { data: unknown }).data
}

test('the stops of a gate are counted, listed and lifted', async () => {
  const limits = ['--fuse-calls', '1', '--fuse-minutes', '1']
  await gates('create', 'runaway', '--target', 'sandbox/echo', ...limits)
  expect(await gates('stops', 'runaway')).toMatchObject({ exitCode: 0, stderr: '' })
  expect(JSON.parse((await gates('stops', 'runaway', '--json')).stdout)).toEqual([])
  await callUntilStopped('runaway', { 'x-gatehouse-user': 'customer-4711' })
  await callUntilStopped('runaway', { 'x-gatehouse-session': 'conversation-9' })

  expect(await countStops()).toEqual([
    { gateId: 'runaway', budgetId: null, name: 'runaway', sessions: 1, users: 1 },
  ])
  const stdout = await pollUntil('the name, which is stored with the calls', async () => {
    const listed = (await gates('stops', 'runaway')).stdout
    return listed.includes('customer-4711') && listed
  })
  expect(stdout).toMatch(/^KIND +HEAD +NAME +SINCE +REASON\n/)
  expect(stdout).toMatch(/^user +end:\w+ +customer-4711 +[\d-]+ [\d:]+ +it made/m)
  expect(stdout).toMatch(/^session +\w+ +- +[\d-]+ [\d:]+ +it made/m)
  const stops = JSON.parse((await gates('stops', 'runaway', '--json')).stdout) as {
    kind: string
    id: string
  }[]
  const user = stops.find(({ kind }) => kind === 'user')?.id ?? ''
  expect(user).toStartWith('end:')
  const lift = () => gates('lift', 'runaway', 'user', 'customer-4711')
  expect(await lift()).toEqual({
    exitCode: 0,
    stdout: 'The user customer-4711 is no longer stopped by the fuse of runaway.\n',
    stderr: '',
  })
  expect(await lift()).toMatchObject({
    ...{ exitCode: 4, stdout: '', stderr: expect.stringContaining('gates stops runaway') },
  })
  expect((await call('runaway', { 'x-gatehouse-user': 'customer-4711' })).status).toBe(200)
  expect(await countStops()).toEqual([
    { gateId: 'runaway', budgetId: null, name: 'runaway', sessions: 1, users: 0 },
  ])
  const session = stops.find(({ kind }) => kind === 'session')?.id ?? ''
  const lifted = await gates('lift', 'runaway', 'session', session, '--json')
  expect(JSON.parse(lifted.stdout)).toEqual({
    ...{ gate: 'runaway', kind: 'session', id: session, stopped: false },
  })
  expect(JSON.parse((await gates('stops', 'runaway', '--json')).stdout)).toEqual([])
  expect(await countStops()).toEqual([])
})

test.each([
  ['stops of a gate that is not there', ['stops', 'nope'], 4, 'nope'],
  ['a lift on a gate that is not there', ['lift', 'nope', 'user', 'user_1'], 4, 'nope'],
  ['a lift of another kind', ['lift', 'runaway', 'key', 'key_1'], 2, 'session, user'],
  ['a lift of nobody', ['lift', 'runaway', 'user'], 2, 'head'],
])('%s is refused', async (_, words, exitCode, why) => {
  expect(await gates(...words)).toMatchObject({
    ...{ exitCode, stdout: '', stderr: expect.stringContaining(why) },
  })
})

test('a budget has a fuse, whose stops are counted, listed and lifted', async () => {
  await gates('create', 'shared', '--target', 'sandbox/echo')
  const created = await run(
    ...['budgets', 'create', '--scope', 'account', '--tokens', '1000000', '--period', 'day'],
    ...['--name', 'All', '--fuse-calls', '1', '--json'],
  )
  const { id, fuse } = JSON.parse(created.stdout) as { id: string; fuse: unknown }
  expect(fuse).toEqual({ usd: null, callsPerMinute: 1, forMinutes: 5 })
  expect(await fuseAfter('budgets', 'update', id, '--fuse-minutes', '1')).toEqual({
    ...{ usd: null, callsPerMinute: 1, forMinutes: 1 },
  })
  expect((await run('budgets', 'show', id)).stdout).toMatch(
    /^fuse +stops a session or user above one call a minute for one minute$/m,
  )
  await callUntilStopped('shared', { 'x-gatehouse-session': 'conversation-10' })
  expect(await countStops()).toEqual([
    { gateId: null, budgetId: id, name: 'All', sessions: 1, users: 0 },
  ])
  const [stop] = JSON.parse((await run('budgets', 'stops', id, '--json')).stdout) as [
    { kind: string; id: string },
  ]
  expect((await run('budgets', 'stops', id)).stdout).toContain(`session  ${stop.id}  -`)
  const lifted = await run('budgets', 'lift', id, stop.kind, stop.id, '--json')
  expect(JSON.parse(lifted.stdout)).toEqual({
    ...{ budget: id, kind: 'session', id: stop.id, stopped: false },
  })
  expect((await call('shared', { 'x-gatehouse-session': 'conversation-10' })).status).toBe(200)
  expect(await countStops()).toEqual([])
  expect(await fuseAfter('budgets', 'update', id, '--clear-fuse')).toBeNull()
})
