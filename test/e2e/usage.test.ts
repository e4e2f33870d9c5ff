/**
 * The usage in the log, the analytics and the command line equals the calls, even after the process
 * was killed.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { boundToTest } from '../support/bound-to-test.ts'
import { IS_LONG } from '../support/chaos-form.ts'
import {
  controlPlaneCall,
  createGate,
  listLogRows,
  waitForLogRow,
} from '../support/control-plane.ts'
import { PROGRAM } from '../support/program.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import {
  createBootstrapKey,
  type Gatehouse,
  startGatehouse,
  UNHURRIED_SHIPPING,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const ROUNDS = IS_LONG ? 8 : 3

let folder: TemporaryFolder
const key = createBootstrapKey()
beforeAll(async () => {
  folder = await createTemporaryFolder()
})
afterAll(() => folder.remove())

function start(): Promise<Gatehouse> {
  return startGatehouse({
    sandbox: true,
    dataFolder: folder.path,
    key,
    environment: UNHURRIED_SHIPPING,
  })
}

async function call(gatehouse: Gatehouse, gate: string): Promise<string> {
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ gate_id: gate, messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return response.headers.get('x-request-id') ?? ''
}

interface Sum {
  readonly group: string | null
  readonly calls: number
  readonly errors: number
  readonly tokens: { readonly input: number; readonly output: number }
  readonly cost: { readonly usd: number; readonly unknownCalls: number }
}

async function readSums(gatehouse: Gatehouse, groupBy: string): Promise<readonly Sum[]> {
  const response = await controlPlaneCall(
    gatehouse,
    'GET',
    `/v1/analytics?interval=all&group_by=${groupBy}`,
  )
  return ((await response.json()) as { data: Sum[] }).data
}

/** Everything that the log says, summed up here. */
async function expectSumsToBeThoseOfTheLog(gatehouse: Gatehouse): Promise<number> {
  const rows = await listLogRows(gatehouse)
  const sums = await readSums(gatehouse, 'gate')
  for (const gate of new Set(rows.map((row) => row.gateId))) {
    const own = rows.filter((row) => row.gateId === gate)
    expect(sums.find((sum) => sum.group === gate)).toMatchObject({
      calls: own.length,
      errors: own.filter((row) => row.outcome === 'failed').length,
      tokens: {
        input: own.reduce((total, row) => total + (row.usage?.inputTokens ?? 0), 0),
        output: own.reduce((total, row) => total + (row.usage?.outputTokens ?? 0), 0),
      },
      cost: { usd: 0, unknownCalls: 0 },
    })
  }
  expect(sums.reduce((total, sum) => total + sum.calls, 0)).toBe(rows.length)
  return rows.length
}

test('after every kill the sums are those of the log, and nothing is counted twice', async () => {
  let made = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const gatehouse = await start()
    if (round === 0) {
      await createGate(gatehouse, 'failing', ['sandbox/500', 'sandbox/429'])
    }
    await Promise.all(Array.from({ length: 40 }, () => call(gatehouse, 'demo')))
    await Promise.all(Array.from({ length: 5 }, () => call(gatehouse, 'failing')))
    made += 45
    // Some of it is in the store by then, some is not: another moment in each round.
    await Bun.sleep((round % 4) * 350)
    await gatehouse.kill()
  }
  const gatehouse = await start()
  const last = await call(gatehouse, 'demo')
  await waitForLogRow(gatehouse, last)
  expect(await expectSumsToBeThoseOfTheLog(gatehouse)).toBe(made + 1)

  const failed = await controlPlaneCall(gatehouse, 'GET', '/v1/logs?outcome=failed&limit=1')
  const [row] = ((await failed.json()) as { data: Record<string, unknown>[] }).data
  expect(row).toMatchObject({
    gateId: 'failing',
    attempts: 2,
    attemptDetails: [
      { target: 'sandbox/500', status: 500 },
      { target: 'sandbox/429', status: 429 },
    ],
    cost: { usd: 0, status: 'exact', source: 'free' },
  })
  await gatehouse.stop()
})

/** The command line, against a server. */
async function run({ url }: Gatehouse, ...words: readonly string[]) {
  const environment = { GATEHOUSE_URL: url, GATEHOUSE_API_KEY: key }
  const { stdout, stderr, exitCode } = await runCliInProcess(words, { environment })
  return { output: stdout, errors: stderr, exitCode }
}

test('the command line shows sums and calls, verifies costs, and follows', async () => {
  const gatehouse = await start()
  try {
    await waitForLogRow(gatehouse, await call(gatehouse, 'demo'))
    const rows = await listLogRows(gatehouse)
    const usage = await run(gatehouse, 'usage', '--by', 'gate')
    expect(usage).toMatchObject({ exitCode: 0 })
    expect(usage.output).toMatch(/^demo +\d+ +0 /m)
    const json = JSON.parse((await run(gatehouse, 'usage', '--by', 'target', '--json')).output) as {
      data: Sum[]
    }
    expect(json.data.reduce((total, sum) => total + sum.calls, 0)).toBe(rows.length)

    const logs = await run(gatehouse, 'logs', '--gate', 'failing', '--json', '--limit', '500')
    expect(JSON.parse(logs.output)).toHaveLength(
      rows.filter((row) => row.gateId === 'failing').length,
    )
    const mistaken = await call(gatehouse, 'gpt-4o')
    await waitForLogRow(gatehouse, mistaken)
    const mistakes = await run(gatehouse, 'logs', '--error-kind', 'gate_not_found')
    expect(mistakes.output).toContain(' gpt-4o (no gate) ')
    expect(await run(gatehouse, 'logs', '--from', 'soon')).toMatchObject({ exitCode: 1 })

    const verified = await run(gatehouse, 'costs', 'verify')
    expect(verified).toMatchObject({ exitCode: 0 })
    expect(verified.output).toContain(`Checked ${rows.length + 1} calls`)

    const follower = Bun.spawn(
      boundToTest([...PROGRAM, 'logs', '--follow', '--json', '--limit', '1']),
      {
        env: { PATH: process.env.PATH ?? '', GATEHOUSE_URL: gatehouse.url, GATEHOUSE_API_KEY: key },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'inherit',
      },
    )
    let followed = ''
    let latest: string | undefined
    for await (const chunk of follower.stdout) {
      followed += new TextDecoder().decode(chunk)
      latest ??= await call(gatehouse, 'demo')
      if (followed.includes(latest)) break
    }
    follower.kill()
    await follower.exited
    expect(followed.split('\n').filter((line) => line.includes(latest ?? '?'))).toHaveLength(1)
  } finally {
    await gatehouse.stop()
  }
})

test('an export is streamed over HTTP, whole', async () => {
  const gatehouse = await start()
  try {
    const rows = await listLogRows(gatehouse)
    const csv = await controlPlaneCall(gatehouse, 'GET', '/v1/logs/export?format=csv')
    expect((await csv.text()).trimEnd().split('\r\n')).toHaveLength(rows.length + 1)
    const lines = await (
      await controlPlaneCall(gatehouse, 'GET', '/v1/logs/export?format=ndjson')
    ).text()
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    ).toEqual(rows.map((row) => row.id))
  } finally {
    await gatehouse.stop()
  }
})
