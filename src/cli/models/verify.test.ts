/** `gatehouse models verify` on a local folder with calls and entries of different ages. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCliInProcess } from '../../../test/support/run-cli-in-process.ts'
import { seedPlannedCalls } from '../../../test/support/seed-calls.ts'
import {
  createTemporaryFolder,
  type TemporaryFolder,
} from '../../../test/support/temporary-folder.ts'

const DAY_MS = 86_400_000
const dateBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await createTemporaryFolder()
  await writeFile(
    join(folder.path, 'gatehouse.yaml'),
    `models:
  - {model: openai/old-1, prices: [{from: ${dateBefore(92)}, input: 1, output: 2}]}
  - {model: openai/new-1, prices: [{from: ${dateBefore(88)}, input: 1, output: 2}]}
  - {model: openai/unused-1, prices: [{from: ${dateBefore(900)}, input: 1, output: 2}]}
`,
  )
  const at = { startedAt: Date.now() - 3_600_000, gate: 'demo' }
  await seedPlannedCalls(
    folder.path,
    ['openai/old-1', 'openai/new-1', 'mistral/mistral-medium-latest', 'openai/never-heard-1'].map(
      (target) => ({ ...at, target }),
    ),
  )
})
afterAll(() => folder.remove())

const run = async (words: readonly string[], input = '') => {
  const environment = { GATEHOUSE_DATA_DIR: folder.path }
  return await runCliInProcess(['models', 'verify', ...words], { environment, input })
}
const listOf = (models: object) => JSON.stringify({ openai: { models } })

test('old prices and aliases are doubted, and nothing else', async () => {
  const { stdout, stderr, exitCode } = await run([])
  expect(exitCode).toBe(1)
  expect(stdout.trimEnd().split('\n').slice(1).toSorted()).toEqual([
    expect.stringMatching(/^mistral\/mistral-medium-latest +1 +alias +the provider decides/),
    expect.stringMatching(new RegExp(`^openai/old-1 +1 +old +since ${dateBefore(92)}$`)),
  ])
  expect(stderr).toContain('Checked 3 models: 2 doubts.')
})

test('a price that differs from the list is doubted', async () => {
  const models = {
    'new-1': { cost: { input: 1, output: 3, cache_read: 9 } },
    'old-1': { cost: { input: 1, output: 2 } },
  }
  const { stdout } = await run(['--against', '-', '--json'], listOf(models))
  const doubts = JSON.parse(stdout) as Record<string, unknown>[]
  expect(doubts.filter(({ reason }) => reason === 'differs')).toEqual([
    { model: 'openai/new-1', calls: 1, reason: 'differs', detail: 'output $2, listed $3' },
  ])
})

test('a list of another form is refused', async () => {
  const ran = await run(['--against', '-'], '{}')
  expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ran.stderr).toContain("expected is models.dev's api.json")
})
