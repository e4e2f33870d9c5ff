/** `gatehouse tokens`, as a person or a script uses it on a local folder. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { runCli } from '../support/run-cli.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await createTemporaryFolder()
  await command(['gates', 'create', 'coding', '--target', 'openai/gpt-5'])
})
afterAll(() => folder.remove())

const command = (words: readonly string[], how: typeof runCli = runCliInProcess) =>
  how(words, { environment: { GATEHOUSE_DATA_DIR: folder.path }, input: '' })
const run = (words: readonly string[], how?: typeof runCli) => command(['tokens', ...words], how)

test('a token is created, listed, shown, changed, rotated and deleted', async () => {
  const made = await run(['create', 'jane', '--gate', 'coding', '--concurrent-calls', '3'], runCli)
  expect(made.stdout).toMatch(/^at-svc-[0-9a-f]{64}\n$/)
  expect(made.stderr).toContain('shown only this once')
  const [{ id }] = JSON.parse((await run(['list', '--json'])).stdout) as [{ id: string }]
  const short = id.slice(-12)
  expect((await run(['list'])).stdout).toMatch(
    new RegExp(`^${short} +at-svc-\\w{4}… +- +coding +.*jane$`, 'm'),
  )
  expect((await run(['show', id])).stdout).toMatch(/^calls at the same time +3$/m)
  const changed = await run(['update', short, '--gate', 'all', '--concurrent-calls', 'none'])
  expect(changed).toMatchObject({ exitCode: 0, stderr: '' })
  expect((await run(['show', id])).stdout).toMatch(/^gates +all$/m)
  const rotated = await run(['rotate', short, '--old-ends-in', '0'])
  expect(rotated.stdout).toMatch(/^at-svc-[0-9a-f]{64}\n$/)
  expect(rotated.stdout).not.toBe(made.stdout)
  expect((await run(['delete', short, '--yes'])).exitCode).toBe(0)
  expect((await run(['show', id])).exitCode).toBe(4)
})

test.each([
  ['no name', ['create'], 2],
  ['an unknown tag as the owner', ['create', 'x', '--owner-tag', 'nowhere'], 4],
  ['two owners', ['create', 'x', '--owner-member', 'a', '--owner-tag', 'b'], 2],
  ['a limit that is no number', ['create', 'x', '--requests-per-minute', 'many'], 2],
  ['a gate that is not there', ['create', 'x', '--gate', 'nowhere'], 1],
  ['a range that is none', ['create', 'x', '--ip-range', 'home'], 1],
  ['an update of nothing', ['update', 'key_1'], 2],
  ['an unknown token', ['delete', 'key_1', '--yes'], 4],
] as const)('%s is refused', async (_name, words, exitCode) => {
  expect(await run(words)).toMatchObject({ exitCode, stdout: '' })
})

test('a tag that owns a token is given by its name or id', async () => {
  const { id } = JSON.parse((await command(['tags', 'create', 'team-a', '--json'])).stdout)
  const owner = { type: 'tag', id }
  const made = await run(['create', 'by name', '--owner-tag', 'team-a', '--json'])
  expect(JSON.parse(made.stdout)).toMatchObject({ owner })
  const tokenId = (JSON.parse(made.stdout) as { id: string }).id
  const changed = await run(['update', tokenId, '--owner-tag', id, '--json'])
  expect(JSON.parse(changed.stdout)).toMatchObject({ owner })
  await run(['delete', tokenId, '--yes'])
})

test('the list says which tokens expire soon', async () => {
  const at = (days: number) => new Date(Date.now() + (days + 0.5) * 86_400_000).toISOString()
  for (const days of [0, 1, 5, 20])
    await run(['create', `for ${days} days`, '--expires-at', at(days)])
  const { stdout } = await run(['list'])
  const endOf = (name: string) => / \d\d:\d\d( \([^)]*\))? .*/.exec(lineOf(name))?.[1]
  const lineOf = (name: string) => stdout.split('\n').find((line) => line.endsWith(name)) ?? ''
  expect(endOf('for 0 days')).toBe(' (within a day)')
  expect(endOf('for 1 days')).toBe(' (in 1 day)')
  expect(endOf('for 5 days')).toBe(' (in 5 days)')
  expect(lineOf('for 20 days')).not.toBe('')
  expect(endOf('for 20 days')).toBeUndefined()
})

test('a token is stopped with a reason, shown so, and started again', async () => {
  await run(['create', 'joe'])
  const [{ id }] = JSON.parse((await run(['list', '--json'])).stdout) as [{ id: string }]
  const short = id.slice(-12)
  const stopped = await run(['stop', short, '--reason', 'It leaked.'])
  expect(stopped).toMatchObject({ exitCode: 0, stdout: `Stopped ${id}.\n` })
  expect((await run(['show', id])).stdout).toMatch(/^stopped +since .*: It leaked\.$/m)
  expect(JSON.parse((await run(['stop', short, '--json'])).stdout)).toEqual({
    ...{ id, stopped: true, callsEnded: 0, nodesNotHeard: 0 },
  })
  expect(await run(['start', short])).toMatchObject({ stdout: `${id} is not stopped.\n` })
  expect(JSON.parse((await run(['start', short, '--json'])).stdout)).toEqual({ id, stopped: false })
  expect((await run(['show', id])).stdout).toMatch(/^stopped +no$/m)
  expect(JSON.parse((await run(['delete', id, '--yes', '--json'])).stdout)).toEqual({
    ...{ id, deleted: true, stopped: true, callsEnded: 0, nodesNotHeard: 0 },
  })
  expect((await run(['stop', 'key_1'])).exitCode).toBe(4)
})
