import { describe, expect, test } from 'bun:test'
import { SettingsError } from './setting-type.ts'
import { readSettings } from './settings.ts'

function refused(environment: Record<string, string>): string {
  try {
    readSettings(environment)
  } catch (error) {
    if (error instanceof SettingsError) return error.message
    throw error
  }
  return 'not refused'
}

test('without an address the store is a file', () => {
  expect(readSettings({}).database).toBeUndefined()
  expect(readSettings({ DATABASE_URL: '' }).database).toBeUndefined()
})

test.each([
  'postgres://gatehouse:s%40crt@db.example:6432/gatehouse',
  'postgresql://gatehouse@db.example/gatehouse?sslmode=verify-full&sslrootcert=/etc/ca.pem',
  'postgres:///gatehouse?host=/var/run/postgresql',
  'postgres://[::1]/gatehouse?application_name=blue',
])('%s is an address', (url) => {
  const { database } = readSettings({ DATABASE_URL: url })
  expect(database?.url.reveal()).toBe(url)
  expect(database).toMatchObject({
    poolSize: 10,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 30_000,
  })
})

test('the address is never shown', () => {
  const { database } = readSettings({ DATABASE_URL: 'postgres://u:planted@h/d' })
  expect(JSON.stringify(database) + Bun.inspect(database)).not.toContain('planted')
})

describe('a refusal names the fault, and never repeats the value', () => {
  test.each([
    ['mysql://u:planted@h/d', 'address of a Postgres database'],
    ['planted', 'address of a Postgres database'],
    ['postgres://u:planted@h', 'name the database'],
    ['postgres://u:planted@h/', 'name the database'],
    ['postgres://u:plan/ted@h/d', 'percent-encoded'],
    ['postgres://u:planted@h/d?sslmode=prefer', 'disable, require, verify-ca, verify-full'],
    ['postgres://u:planted@h/d?sslmode=', 'disable, require, verify-ca, verify-full'],
    ['postgres://u:planted@h/d?ssl=true', 'not by ssl'],
    ['postgres://u:planted@h/d?sslnegotiation=direct', 'not by sslnegotiation'],
    ['postgres://u:planted@h/d?sslmode=verify-ca', 'no sslrootcert'],
  ])('%s', (url, reason) => {
    const message = refused({ DATABASE_URL: url })
    expect(message).toContain(reason)
    expect(message).toContain('DATABASE_URL')
    expect(message).not.toContain('plan')
  })

  test.each([
    ['GATEHOUSE_DATABASE_POOL_SIZE', '1'],
    ['GATEHOUSE_DATABASE_CONNECT_TIMEOUT_MS', '0'],
    ['GATEHOUSE_DATABASE_STATEMENT_TIMEOUT_MS', 'soon'],
  ])('%s=%s', (name, value) => {
    expect(refused({ DATABASE_URL: 'postgres://u@h/d', [name]: value })).toContain(name)
  })
})
