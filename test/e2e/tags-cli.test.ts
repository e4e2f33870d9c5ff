/** `gatehouse tags`, as a person or a script uses it on a local folder. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await createTemporaryFolder()
})
afterAll(() => folder.remove())

const run = (words: readonly string[], how: typeof runCli = runCliInProcess) =>
  how(['tags', ...words], { environment: { GATEHOUSE_DATA_DIR: folder.path }, input: '' })

test('a tag is created, listed, shown, renamed and deleted', async () => {
  const made = await run(
    ['create', 'production', '--description', 'What customers see', '--json'],
    runCli,
  )
  const { id } = JSON.parse(made.stdout) as { id: string }
  expect((await run(['list'])).stdout).toMatch(
    /^ID +MEMBERS +NAME +DESCRIPTION\ntag_\w+ +0 +production +What customers see$/m,
  )
  expect((await run(['update', id, '--name', 'live'])).exitCode).toBe(0)
  const { stdout } = await run(['show', id])
  expect(stdout).toMatch(/^name +live$/m)
  expect(stdout).toMatch(/^description +What customers see$/m)
  expect(JSON.parse((await run(['list', '--json'])).stdout)).toMatchObject([{ id, name: 'live' }])
  expect(JSON.parse((await run(['delete', id, '--json'])).stdout)).toEqual({ id, deleted: true })
  expect((await run(['show', id])).exitCode).toBe(4)
})

test('a tag is shown, changed and deleted by its name', async () => {
  await run(['create', 'by-name'])
  expect((await run(['show', 'by-name'])).stdout).toMatch(/^members +none$/m)
  const changed = await run(['update', 'by-name', '--description', 'A team'])
  expect(changed.stdout).toMatch(/^description +A team$/m)
  expect((await run(['delete', 'by-name', '--yes'])).stdout).toMatch(/^Deleted tag_\w+\.$/m)
  const gone = await run(['show', 'by-name'])
  expect(gone.exitCode).toBe(4)
  expect(gone.stderr).toContain("There is no tag 'by-name': see gatehouse tags list.")
})

test.each([
  ['a name with a space', ['create', 'a b'], 1],
  ['no name', ['create'], 2],
  ['an update of nothing', ['update', 'tag_1'], 2],
  ['an unknown option', ['create', 'x', '--colour', 'red'], 2],
  ['an unknown tag', ['delete', 'tag_1', '--yes'], 4],
] as const)('%s is refused', async (_name, words, exitCode) => {
  expect(await run(words)).toMatchObject({ exitCode, stdout: '' })
})

test('a taken name is a conflict', async () => {
  await run(['create', 'once'])
  expect(await run(['create', 'once'])).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('already exists'),
  })
})
