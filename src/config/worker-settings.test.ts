import { expect, test } from 'bun:test'
import { readSettings } from './settings.ts'
import { objectionToWorkers } from './worker-settings.ts'

const stores = { DATABASE_URL: 'postgres://u:p@db/gatehouse', REDIS_URL: 'redis://cache' }

test.each([
  [{}, undefined],
  [{ GATEHOUSE_WORKERS: '1' }, undefined],
  [{ GATEHOUSE_WORKERS: '4', ...stores }, undefined],
  [{ GATEHOUSE_WORKERS: '4' }, /4 processes.*DATABASE_URL.* and REDIS_URL/],
])('%j', (environment, objection) => {
  const { reason, cure } = objectionToWorkers(readSettings(environment), 'linux') ?? {}
  if (objection === undefined) expect(reason).toBeUndefined()
  else expect(`${reason}: ${cure}`).toMatch(objection)
})

test('a system that does not spread connections is named as the reason, whatever is set', () => {
  const settings = readSettings({ GATEHOUSE_WORKERS: '2', ...stores })
  expect(objectionToWorkers(settings, 'darwin')?.reason).toContain('SO_REUSEPORT')
  expect(objectionToWorkers(readSettings(stores), 'darwin')).toBeUndefined()
})

test('auto is one for each core', () => {
  expect(readSettings({ GATEHOUSE_WORKERS: 'auto' }).workers).toBeGreaterThanOrEqual(1)
})
