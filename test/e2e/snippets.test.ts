/**
 * The snippets that the dashboard shows, each run as it is copied: curl in a shell, TypeScript with
 * the SDKs as they are published.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { callSnippets, KEY_VARIABLE } from '../../web/ui/snippets.ts'
import { createGate } from '../support/control-plane.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

/** Their SDKs are not installed here: the languages that others' machines bring. */
const NOT_RUN = /python|vercel/
const GATE = 'snippets.v1'
const FILLED_IN = 'Sandbox middle: after'

let gatehouse: Gatehouse
let folder: TemporaryFolder
beforeAll(async () => {
  gatehouse = await startGatehouse({ sandbox: true })
  await createGate(gatehouse, GATE, 'sandbox/echo')
  folder = await createTemporaryFolder()
  await symlink(resolve(import.meta.dir, '../../node_modules'), join(folder.path, 'node_modules'))
})
afterAll(async () => {
  await gatehouse.remove()
  await folder.remove()
})

const ids = callSnippets({ baseUrl: 'http://example.test', gateId: GATE })
  .map(({ id }) => id)
  .filter((id) => !NOT_RUN.test(id))

async function run(id: string): Promise<{ readonly exitCode: number; readonly output: string }> {
  const code =
    callSnippets({ baseUrl: gatehouse.url, gateId: GATE }).find((one) => one.id === id)?.code ?? ''
  const isCurl = id.startsWith('curl')
  const path = join(folder.path, `${id}.${isCurl ? 'sh' : 'ts'}`)
  await Bun.write(path, code)
  const child = Bun.spawn(isCurl ? ['sh', path] : [process.execPath, path], {
    env: { PATH: process.env.PATH ?? '', [KEY_VARIABLE]: gatehouse.key },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const output = await new Response(child.stdout).text()
  return { exitCode: await child.exited, output }
}

test.each(ids)('%s answers', async (id) => {
  const { exitCode, output } = await run(id)
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 })
  // The sandbox's echo, and its text between prompt and suffix.
  expect(output).toContain(
    id.includes('fim') ? FILLED_IN : 'Sandbox echo: Say hello in five languages.',
  )
})

test('only Python and one more SDK are copied without a run here', () => {
  const all = callSnippets({ baseUrl: gatehouse.url, gateId: GATE }).map(({ id }) => id)
  expect(all.filter((id) => NOT_RUN.test(id))).toEqual([
    'openai-python-responses',
    'openai-python-chat',
    'anthropic-python',
    'mistral-fim-python',
    'vercel-ai-sdk-typescript',
  ])
})
