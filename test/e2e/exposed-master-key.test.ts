/**
 * A master key that others may read: a file of ours is made private, one from elsewhere warns or
 * stops the start with the cure, and no call fails for it.
 */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { controlPlaneCall, createGate } from '../support/control-plane.ts'
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { runCli } from '../support/run-cli.ts'
import { jsonAnswer } from '../support/scripted-answers.ts'
import { createBootstrapKey, type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const KEY = createBootstrapKey()
const OWN = 'sk-planted-own-key-aaaa'
const ANSWER = '{"id":"1","object":"chat.completion","choices":[],"usage":null}'

let folder: TemporaryFolder
let data: string
let path: string
let upstream: RawUpstream
let running: Gatehouse | undefined
beforeEach(async () => {
  folder = await createTemporaryFolder()
  data = join(folder.path, 'data')
  path = join(data, 'master.key')
  mkdirSync(data, { mode: 0o700 })
  upstream = await startRawUpstream()
  upstream.answer(jsonAnswer(200, ANSWER))
})
afterEach(async () => {
  await running?.remove()
  running = undefined
  await upstream.stop()
  await folder.remove()
})

async function start(): Promise<Gatehouse> {
  running = await startGatehouse({
    dataFolder: data,
    key: KEY,
    environment: { OPENAI_BASE_URL: upstream.url },
  })
  return running
}

const startedOrNot = () => start().then(() => 'started', String)

const setKey = async (gatehouse: Gatehouse, apiKey = OWN): Promise<number> =>
  (await controlPlaneCall(gatehouse, 'PUT', '/v1/provider-keys/openai', { key: apiKey })).status

/** @returns the credential that the provider saw */
async function keyInUse(gatehouse: Gatehouse): Promise<string | undefined> {
  const body = { model: 'one', messages: [{ role: 'user', content: 'Hi' }] }
  const answer = await controlPlaneCall(gatehouse, 'POST', '/v1/chat/completions', body)
  expect({ status: answer.status, text: await answer.text() }).toEqual({
    status: 200,
    text: ANSWER,
  })
  return upstream.last().headers.authorization
}

/** A first run, which leaves a sealed provider key and `master.key`. */
async function runOnce(): Promise<void> {
  const gatehouse = await start()
  await createGate(gatehouse, 'one', 'openai/gpt-4.1')
  expect([200, 201]).toContain(await setKey(gatehouse))
  await gatehouse.stop()
}

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

/** As the kubelet lays a Secret out: a link to a file behind `..data`, which is itself a link. */
function mountSecret(mode: number, text: string): { readonly file: string } {
  const mount = join(folder.path, 'secret')
  const version = join(mount, '..2026_11_27_20_00_00.1234567')
  mkdirSync(version, { recursive: true })
  symlinkSync('..2026_11_27_20_00_00.1234567', join(mount, '..data'))
  symlinkSync('..data/master.key', join(mount, 'master.key'))
  const file = join(version, 'master.key')
  writeFileSync(file, text)
  chmodSync(file, mode)
  rmSync(path, { force: true })
  symlinkSync(join(mount, 'master.key'), path)
  return { file }
}

test.each([0o644, 0o640, 0o604, 0o660])(
  'in a file of ours with mode %o is made private with a line in the log, and calls go on',
  async (mode) => {
    await runOnce()
    chmodSync(path, mode)
    const gatehouse = await start()
    expect(modeOf(path)).toBe('600')
    expect(gatehouse.output()).toContain(
      `Others than its owner could read the master key in ${path}`,
    )
    expect(gatehouse.output()).toContain('gatehouse master-key rotate')
    expect(await keyInUse(gatehouse)).toBe(`Bearer ${OWN}`)
    expect(await setKey(gatehouse, 'sk-planted-own-key-bbbb')).toBe(200)
  },
)

test('in a private file is no subject of the log', async () => {
  await runOnce()
  const gatehouse = await start()
  expect(gatehouse.output()).not.toMatch(/may read|could read/)
})

test.each([0o644, 0o444, 0o604])(
  'in a Secret of Kubernetes with mode %o stops the start with its cure',
  async (mode) => {
    await runOnce()
    const { file } = mountSecret(mode, await Bun.file(path).text())
    const said = await startedOrNot()
    expect(said).toContain(`Every user of this machine may read the master key in ${file}`)
    expect(said).toContain('defaultMode: 0400')
    expect(said).toContain('LoadCredential=')
    expect(modeOf(file)).toBe(mode.toString(8))
    chmodSync(file, 0o400)
    expect(await keyInUse(await start())).toBe(`Bearer ${OWN}`)
  },
)

test.each([0o440, 0o640])(
  'in a Secret under an fsGroup, mode %o, is a warning, and calls go on',
  async (mode) => {
    await runOnce()
    const { file } = mountSecret(mode, await Bun.file(path).text())
    const gatehouse = await start()
    const lines = gatehouse.output().split('\n')
    const told = lines.filter((line) => line.includes('may read the master key'))
    expect(told.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, path: file, mode: `0${mode.toString(8)}` },
    ])
    expect(await keyInUse(gatehouse)).toBe(`Bearer ${OWN}`)
    expect(modeOf(file)).toBe(mode.toString(8))
  },
)

test('that everybody may read while the server runs is logged, and no call and no change fails', async () => {
  await runOnce()
  const { file } = mountSecret(0o400, await Bun.file(path).text())
  const gatehouse = await start()
  // The kubelet changes a Secret by a new file; this one has another mode too.
  writeFileSync(`${file}.new`, await Bun.file(file).text())
  chmodSync(`${file}.new`, 0o644)
  renameSync(`${file}.new`, file)
  expect(await setKey(gatehouse, 'sk-planted-own-key-bbbb')).toBe(200)
  expect(await keyInUse(gatehouse)).toBe('Bearer sk-planted-own-key-bbbb')
  expect(gatehouse.output()).toContain('defaultMode: 0400')
})

test('behind a link that leads nowhere stops the start, and the link is named', async () => {
  await runOnce()
  rmSync(path)
  symlinkSync('/nowhere/master.key', path)
  expect(await startedOrNot()).toContain(`${path} is a link to /nowhere/master.key`)
})

test('behind a link is not replaced by a rotation, which says where the new key goes', async () => {
  await runOnce()
  const { file } = mountSecret(0o400, await Bun.file(path).text())
  const rotate = () =>
    runCli(['master-key', 'rotate', '--json'], { environment: { GATEHOUSE_DATA_DIR: data } })
  const refused = await rotate()
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain(`${path} is a link to`)
  const before = await Bun.file(file).text()
  writeFileSync(file, `${'ab'.repeat(32)}\n${before}`)
  const rotated = await rotate()
  expect(JSON.parse(rotated.stdout)).toMatchObject({ outcome: 'finished', encryptedAnew: 2 })
  expect(await keyInUse(await start())).toBe(`Bearer ${OWN}`)
})
