/** Everything that is wrong with the settings is said at once, and nothing that is unused. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { USERS_CHECKS } from '../run/check-settings.ts'
import { loadSettings } from './load-settings.ts'
import type { SettingsError } from './setting-type.ts'

async function refusalOf(environment: Record<string, string>): Promise<string> {
  return await loadSettings(environment, USERS_CHECKS).then(() => '', String)
}

test('every faulty setting is named once, whoever reads it, and no secret is repeated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-faults-'))
  const path = join(folder, 'gatehouse.yaml')
  writeFileSync(path, 'plans:\n  default: canary-plan\n')
  const said = await refusalOf({
    GATEHOUSE_CONFIG: path,
    GATEHOUSE_PORT: 'planted',
    GATEHOUSE_LEASE_MS: '-1',
    GATEHOUSE_RETENTION_DAYS: 'ten',
    GATEHOUSE_MASTER_KEY: 'canary',
    DATABASE_URL: 'mysql://user:canary@host/x',
    REDIS_URL: 'canary',
    GATEHOUSE_TRUSTED_HOSTS: 'not a host',
    HTTPS_PROXY: 'ftp://canary',
    GATEHOUSE_FORWARD_REQUEST_HEADERS: 'authorization',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'canary',
    OTEL_TRACES_SAMPLER: 'sometimes',
  })
  rmSync(folder, { recursive: true })
  expect(said).toContain('12 settings are wrong:\n')
  for (const name of [
    ...['GATEHOUSE_PORT', 'GATEHOUSE_LEASE_MS', 'GATEHOUSE_RETENTION_DAYS', 'DATABASE_URL'],
    ...['GATEHOUSE_MASTER_KEY', 'REDIS_URL', 'GATEHOUSE_TRUSTED_HOSTS', 'HTTPS_PROXY'],
    ...['GATEHOUSE_FORWARD_REQUEST_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER'],
  ])
    expect({ name, times: said.split(`- ${name}`).length - 1 }).toEqual({ name, times: 1 })
  expect(said).toContain(`${path}:2: plans.default`)
  expect(said).not.toContain('canary')
})

test('each fault of the file has its line among the faults of the variables', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-faults-'))
  const file = join(folder, 'gatehouse.yaml')
  writeFileSync(file, 'plan: []\nlogLevel: loud\n')
  const error: unknown = await loadSettings(
    { GATEHOUSE_CONFIG: file, GATEHOUSE_PORT: 'planted' },
    USERS_CHECKS,
  ).catch((thrown: unknown) => thrown)
  rmSync(folder, { recursive: true })
  expect((error as SettingsError).faults).toEqual([
    { file, line: 1, message: 'plan is not a known field' },
    { file, line: 2, message: expect.stringContaining('logLevel must be') },
    { message: expect.stringContaining('GATEHOUSE_PORT must be') },
  ])
})

test('one fault has its own message and no list', async () => {
  expect(await refusalOf({ GATEHOUSE_PORT: 'planted' })).toStartWith(
    'SettingsError: GATEHOUSE_PORT must be',
  )
})

test('what no part of the server uses is no fault', async () => {
  const unused = { OTEL_TRACES_SAMPLER: 'xray', OTEL_EXPORTER_OTLP_HEADERS: 'bare' }
  expect(await refusalOf(unused)).toBe('')
  expect(await refusalOf({ ...unused, GATEHOUSE_PORT: 'planted' })).not.toContain('OTEL')
})
