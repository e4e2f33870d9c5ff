/** The tour of docs/guides/owned-models.md, pasted into a shell as a new user would; only addresses and keys are the test's. */
import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { controlPlaneCall } from '../support/control-plane.ts'
import { CHAT_JSON, CHAT_STREAM_WITH_USAGE } from '../support/dialect-samples.ts'
import { startRawUpstream } from '../support/raw-upstream.ts'
import { jsonAnswer, streamAnswer } from '../support/scripted-answers.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

const REPOSITORY = resolve(import.meta.dir, '../..')

async function readTour(): Promise<string> {
  const guide = await Bun.file(`${REPOSITORY}/docs/guides/owned-models.md`).text()
  const blocks = Array.from(guide.matchAll(/```sh\n([\s\S]*?)```/g), ([, block]) => block ?? '')
  const [, commands = ''] = blocks
  // In the test the two are in the environment already.
  return commands.replace(/^export GATEHOUSE_URL.*\n/m, '')
}

test('the tour registers a model, rotates its credential, puts it in a gate with a fallback, and calls it', async () => {
  const folder = await createTemporaryFolder()
  const upstream = await startRawUpstream()
  const { host } = new URL(upstream.url)
  upstream.answer((exchange) =>
    exchange.request.text.includes('"stream":true')
      ? streamAnswer(CHAT_STREAM_WITH_USAGE)(exchange)
      : jsonAnswer(200, CHAT_JSON)(exchange),
  )
  const gatehouse = await startGatehouse({
    environment: {
      GATEHOUSE_TRUSTED_HOSTS: host,
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    },
  })
  try {
    await Bun.write(`${folder.path}/new-credential.txt`, 'rotated\n')
    const tour = (await readTour()).replaceAll('localhost:11434', host)
    const script = `set -e\ngatehouse() { "${process.execPath}" "${REPOSITORY}/src/main.ts" "$@"; }\n${tour}`
    const child = Bun.spawn(['bash', '-c', script], {
      cwd: folder.path,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: folder.path,
        GATEHOUSE_URL: gatehouse.url,
        GATEHOUSE_API_KEY: gatehouse.key,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    expect({ code: await child.exited, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toContain('hé 😀')
    expect(stderr).toContain('owned/llama')
    expect(stderr).not.toContain('Warning')
    expect(upstream.last().headers.authorization).toBe('Bearer rotated')
    const gate = await (await controlPlaneCall(gatehouse, 'GET', '/v1/gates/assistant')).json()
    expect(gate).toMatchObject({ targets: [{ model: 'owned/llama' }, { model: 'openai/gpt-5-mini' }] })
  } finally {
    await gatehouse.remove()
    await upstream.stop()
    await folder.remove()
  }
})
