/** `gatehouse models` on a local folder, with the operator's entries in the configuration file. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCliInProcess } from '../../../test/support/run-cli-in-process.ts'
import {
  createTemporaryFolder,
  type TemporaryFolder,
} from '../../../test/support/temporary-folder.ts'

const CONFIGURATION = `models:
  - model: openai/gpt-9-new
    prices: [{ from: 2026-01-15, input: 3, output: 9, cachedInput: 0.3 }]
    facts: { contextTokens: 500000, inputModalities: [text, image], reasoningEfforts: [low, high] }
    takes: { maxOutputTokens: 70000, maxStops: null }
    retiresOn: 2027-03-01
  - model: openai/house-*
    prices: [{ input: 1, output: 2 }]
`

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await createTemporaryFolder()
  await writeFile(join(folder.path, 'gatehouse.yaml'), CONFIGURATION)
})
afterAll(() => folder.remove())

const run = (...words: string[]) =>
  runCliInProcess(['models', ...words], {
    environment: {
      GATEHOUSE_DATA_DIR: join(folder.path, 'data'),
      GATEHOUSE_CONFIG: join(folder.path, 'gatehouse.yaml'),
      OPENAI_API_KEY: 'sk-example-of-the-operator',
    },
  })

test('models are listed by provider and words, with prices and whose key is used', async () => {
  const { stdout, exitCode } = await run('list', '--provider', 'openai', '--search', 'gpt-9')
  const [headings, model, ...rest] = stdout.trimEnd().split('\n')
  expect(exitCode).toBe(0)
  expect(headings?.split(/ {2,}/)).toEqual([
    ...['MODEL', 'INPUT', 'OUTPUT', 'CONTEXT', 'KEY', 'HEALTH', 'SOURCE'],
  ])
  expect(model).toMatch(
    /^openai\/gpt-9-new {2}\$3 +\$9 +500000 +the gateway's +- +overlay:[0-9a-f]{12}$/,
  )
  expect(rest).toEqual([])
})

test('JSON and CSV have all facts, and every page', async () => {
  const json = JSON.parse((await run('list', '--limit', '100000', '--json')).stdout) as object[]
  const csv = (await run('list', '--limit', '100000', '--csv')).stdout.trimEnd().split('\r\n')
  expect(json.length).toBeGreaterThan(400)
  expect(csv).toHaveLength(json.length + 1)
  expect(csv.find((line) => line.includes('gpt-9-new'))).toMatch(
    /^openai,gpt-9-new,,3,0\.3,9,overlay:[0-9a-f]{12},2026-01-15,false,false,platform,500000,70000,text image,,low high,2027-03-01,$/,
  )
})

test('a model is shown with the source of its price', async () => {
  const { stdout } = await run('show', 'openai/gpt-9-new')
  expect(stdout).toMatch(/^price from +overlay:[0-9a-f]{12}, since 2026-01-15$/m)
  expect(stdout).toMatch(/^takes +text, image$/m)
  expect(stdout).toMatch(/^retires +2027-03-01$/m)
  const listed = JSON.parse((await run('show', 'openai/gpt-5', '--json')).stdout)
  expect(listed).toMatchObject({ inputUsdPerMillion: 1.25, contextTokens: 400_000 })
  expect(listed.priceSource).toStartWith('genai-prices@')
})

test("a model is shown with its health, as the answering node's figures say", async () => {
  expect((await run('show', 'openai/gpt-9-new')).stdout).toMatch(/^health +-$/m)
  const model = JSON.parse((await run('show', 'openai/gpt-9-new', '--json')).stdout)
  const health = {
    ...{ state: 'resting', restsUntil: '2026-01-02T00:00:00.000Z' },
    lastFailure: { code: 'upstream_error', status: 502, at: '2026-01-01T00:00:00.000Z' },
  }
  const server = Bun.serve({ port: 0, fetch: () => Response.json({ ...model, health }) })
  const environment = { GATEHOUSE_URL: server.url.href, GATEHOUSE_API_KEY: 'key' }
  const ran = await runCliInProcess(['models', 'show', 'openai/gpt-9-new'], { environment })
  await server.stop(true)
  expect(ran.stdout).toMatch(
    /^health +resting until 2026-01-02T00:00:00.000Z, last failure upstream_error \(502\) at 2026-01-01T00:00:00.000Z$/m,
  )
})

test('a model is shown with its rules for requests, the operator’s included', async () => {
  const { stdout } = await run('show', 'openai/gpt-9-new')
  expect(stdout).toMatch(/^rule maxOutputTokens +70000 \(the operator's entry\)$/m)
  expect(stdout).toMatch(
    /^rule toolNames +\{"maxLength":64,.*\} \(https:.*, read in \d{4}-\d\d\)$/m,
  )
  expect(stdout).not.toContain('maxStops')
  expect(stdout).toMatch(/^max output +70000$/m)
})

test('a model of a pattern is shown though it is not listed', async () => {
  expect((await run('show', 'openai/house-7')).stdout).toMatch(/^output +\$2$/m)
  expect((await run('list', '--search', 'house-7')).stdout.trimEnd().split('\n')).toHaveLength(1)
})

test.each([
  ['openai/never-heard-1', 4, 'the section models of the configuration file'],
  ['opnai/gpt-5', 4, "Did you mean 'openai'"],
  ['gpt-5', 2, 'is not provider/model'],
])('%s is refused', async (target, exitCode, message) => {
  const ran = await run('show', target)
  expect(ran).toMatchObject({ exitCode, stdout: '' })
  expect(ran.stderr).toContain(message)
})
