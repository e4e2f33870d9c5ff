/**
 * The command lines of a server, whose process is prepared before anything is loaded, and the
 * environment that it starts with.
 */
import { expect, test } from 'bun:test'
import { isServing, preparedEnvironment } from './prepare-process.ts'

test.each([
  [['serve'], true],
  [['--json', 'serve', '--port', '0'], true],
  [['serve', '--help'], true],
  [['help', 'serve'], false],
  [['call', 'serve', 'hello'], false],
  [['--help'], false],
  [[], false],
])('%j: %p', (words, isServer) => {
  expect(isServing(words)).toBe(isServer)
})

test('the memory settings are added once, and the operator’s own values stay', () => {
  const prepared = preparedEnvironment({
    PATH: '/bin',
    MIMALLOC_PURGE_DELAY: '5',
    NOTHING: undefined,
  })
  expect(prepared).toEqual({
    PATH: '/bin',
    MIMALLOC_PURGE_DELAY: '5',
    MIMALLOC_PURGE_HOLES_MIN_INTERVAL: expect.any(String),
    BUN_JSC_heapGrowthFunctionThresholdInMB: expect.any(String),
  })
  expect(preparedEnvironment(prepared ?? {})).toBeUndefined()
})

test('the runtime knows the memory options: it would end at once with an unknown one', () => {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, '--version'], {
    env: preparedEnvironment({}) ?? {},
  })
  expect(stderr.toString()).toBe('')
  expect(exitCode).toBe(0)
})

test('the allocator knows its options: it would ignore an unknown one', () => {
  const environment = preparedEnvironment({}) ?? {}
  const { stderr } = Bun.spawnSync([process.execPath, '-e', ''], {
    env: { ...environment, MIMALLOC_VERBOSE: '1' },
  })
  const said = stderr.toString()
  for (const [name, value] of Object.entries(environment)) {
    const [, option] = /^MIMALLOC_(.*)/.exec(name) ?? []
    if (option !== undefined) expect(said).toContain(`option '${option.toLowerCase()}': ${value}`)
  }
})
