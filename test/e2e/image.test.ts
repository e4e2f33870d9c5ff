/**
 * The Dockerfile without a container engine: what it copies, and the program that comes of its steps
 * as a container runs it: as a user that nobody knows, with the data folder as the only one that can
 * be written.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildImageProgram } from '../../scripts/build-image-program.ts'
import { readCopy, readDockerfile, readEnvironment } from '../../scripts/dockerfile.ts'
import { canConfine, confine, STRANGER } from '../support/confined.ts'
import { waitForLogRow } from '../support/control-plane.ts'
import { BUILT_PROGRAM } from '../support/program.ts'
import { testIf } from '../support/skip-unless.ts'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(600_000)

const REPOSITORY = resolve(import.meta.dir, '../..')

const instructions = readDockerfile(readFileSync(join(REPOSITORY, 'Dockerfile'), 'utf8'))
const imageSteps = instructions.filter(({ stage }) => stage === 1)
const environment = readEnvironment(imageSteps)

function lastValue(name: string): string {
  return imageSteps.findLast((step) => step.name === name)?.value ?? ''
}

test('every copied file is in the repository, and .dockerignore lets it through', () => {
  const ignored = readFileSync(join(REPOSITORY, '.dockerignore'), 'utf8').split('\n')
  const copied = instructions
    .filter(({ name }) => name === 'COPY')
    .map(({ value }) => readCopy(value))
    .filter(({ from }) => from === undefined)
    .flatMap(({ sources }) => sources)
  expect(copied.length).toBeGreaterThan(5)
  for (const path of copied) {
    expect({ path, exists: existsSync(join(REPOSITORY, path)) }).toEqual({ path, exists: true })
    const [top = ''] = path.split('/')
    expect(ignored).toContain(`!${top}`)
  }
  expect(ignored.find((line) => line !== '' && !line.startsWith('#'))).toBe('*')
})

test('it runs as a numbered user that is not root, and starts the gateway without a shell in between', () => {
  expect(lastValue('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  expect(JSON.parse(lastValue('ENTRYPOINT'))).toEqual(['gatehouse'])
  expect(JSON.parse(lastValue('CMD'))).toEqual(['serve'])
  expect(environment.GATEHOUSE_HOST).toBe('0.0.0.0')
  expect(lastValue('VOLUME')).toBe(environment.GATEHOUSE_DATA_DIR ?? 'none')
})

describe('the program built by its steps', () => {
  let folder: TemporaryFolder
  let program: string
  beforeAll(async () => {
    folder = await createTemporaryFolder()
    chmodSync(folder.path, 0o755)
    // What `make test` starts everywhere is made by these steps.
    program = BUILT_PROGRAM ?? join(folder.path, 'gatehouse')
    if (BUILT_PROGRAM === undefined) await buildImageProgram(program)
  })
  afterAll(() => folder.remove())

  test('is the only one in the image', () => {
    const copied = imageSteps
      .filter(({ name }) => name === 'COPY')
      .map(({ value }) => readCopy(value))
    const made = copied.filter(({ from }) => from !== undefined)
    expect(made).toEqual([
      { from: 'build', sources: ['/build/dist/gatehouse'], target: '/usr/local/bin/gatehouse' },
    ])
    expect(existsSync(program)).toBeTrue()
  })

  testIf(canConfine(), 'needs root on Linux, and mounts that it may make read-only')(
    'serves as an unknown user with the data folder alone writable, and ends at SIGTERM',
    async () => {
      const dataFolder = join(folder.path, 'data')
      mkdirSync(dataFolder)
      // As `install -d -m 1777` leaves it.
      chmodSync(dataFolder, 0o1777)
      const probe = Bun.spawnSync(
        confine(dataFolder, ['sh', '-c', 'touch /tmp/probe-$$ /var/tmp/probe-$$; touch $DATA/y']),
        {
          env: { DATA: dataFolder, PATH: process.env.PATH ?? '' },
        },
      )
      expect(String(probe.stderr).match(/Read-only file system/g)).toHaveLength(2)
      expect(readdirSync(dataFolder)).toEqual(['y'])

      const gatehouse = await startGatehouse({
        command: confine(dataFolder, [program]),
        sandbox: true,
        dataFolder,
        environment: { HOME: '/', GATEHOUSE_METRICS_PORT: '0' },
      })
      try {
        expect(await call(gatehouse)).toBe(200)
        expect((await fetch(`${gatehouse.url}/dashboard`)).status).toBe(200)
        expect((await fetch(`${gatehouse.url}/docs`)).status).toBe(200)
        expect(runHealthCheck(gatehouse)).toBe(0)
        expect(gatehouse.output()).not.toMatch(/"level":(?:40|50|60)/)
        for (const name of readdirSync(dataFolder))
          expect({ name, owner: statSync(join(dataFolder, name)).uid }).toEqual({
            name,
            owner: STRANGER,
          })
        expect(await gatehouse.stop()).toBe(0)
        expect(runHealthCheck(gatehouse)).not.toBe(0)
      } finally {
        await gatehouse.remove()
      }
    },
  )
})

async function call(gatehouse: Gatehouse): Promise<number> {
  const response = await fetch(`${gatehouse.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gatehouse.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hello' }] }),
  })
  await response.text()
  await waitForLogRow(gatehouse, response.headers.get('x-request-id'))
  return response.status
}

function runHealthCheck({ url }: Gatehouse): number {
  const [, form = '[]'] = /CMD (\[.*\])$/.exec(lastValue('HEALTHCHECK')) ?? []
  const command = JSON.parse(form) as string[]
  return Bun.spawnSync(command, {
    env: { PATH: process.env.PATH ?? '', GATEHOUSE_PORT: new URL(url).port },
    stderr: 'ignore',
  }).exitCode
}
