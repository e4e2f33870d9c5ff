/** Settings: what is read, what is refused by name, and that no key is ever repeated. */
import { describe, expect, test } from 'bun:test'
import { readSettings } from './settings.ts'

test('all settings have their defaults without a variable', () => {
  expect(readSettings({})).toMatchObject({
    host: '127.0.0.1',
    port: 4000,
    ledgerFailure: 'closed',
    shipIntervalMs: 1_000,
    logLevel: 'info',
  })
})

describe('refused, naming the variable', () => {
  test.each([
    ['GATEHOUSE_PORT', '70000'],
    ['GATEHOUSE_PORT', '-1'],
    ['GATEHOUSE_PORT', '0x10'],
    ['GATEHOUSE_REQUESTS_PER_MINUTE', '0'],
    ['GATEHOUSE_MAX_BODY_BYTES', '1.5'],
    ['GATEHOUSE_IDLE_TIMEOUT_MS', '1e3'],
    ['GATEHOUSE_LEDGER_FAILURE', 'maybe'],
    ['GATEHOUSE_SHIP_INTERVAL_MS', '0'],
    ['GATEHOUSE_SHIP_INTERVAL_MS', '60001'],
    ['GATEHOUSE_HOURLY_DAYS', '0'],
    ['GATEHOUSE_HOURLY_DAYS', '14'],
    ['GATEHOUSE_LOG_LEVEL', 'loud'],
    ['OPENAI_BASE_URL', 'ftp://x'],
    ['OPENAI_BASE_URL', 'http://user:pass@x/v1'],
    ['OPENAI_BASE_URL', 'https://x/v1?key=1'],
    ['OPENAI_API_KEY', 'two words'],
    ['GATEHOUSE_BOOTSTRAP_KEY', 'sk-svc-short'],
  ])('%s=%s', (name, value) => {
    expect(() => readSettings({ [name]: value })).toThrow(name)
  })
})

test.each([
  ['GATEHOUSE_TOTAL_TIMEOUT_MS', '30s', 'a whole number of milliseconds from 1 to 86400000'],
  ['GATEHOUSE_MAX_BODY_BYTES', '64MB', 'a whole number of bytes from 1 to'],
  ['GATEHOUSE_RETENTION_DAYS', '4w', 'a whole number of days from 1 to 36500'],
  ['GATEHOUSE_PORT', 'http', 'a whole number from 0 to 65535'],
])('%s=%s is refused with the unit in which it is given', (name, value, range) => {
  expect(() => readSettings({ [name]: value })).toThrow(`${name} must be ${range}`)
})

test.each([
  ['GATEHOUSE_BOOTSTRAP_KEY', `sk-svc-${'0123456789abcdef'.repeat(4)}`],
  ['GATEHOUSE_METRICS_TOKEN', 'planted-token'],
])('%s is refused for what a file of secrets puts around it, and not repeated', (name, value) => {
  for (const given of [`${value}\n`, ` ${value}`]) {
    const read = () => readSettings({ [name]: given })
    expect(read).toThrow(/^(?!.*planted|.*0123).*: remove the space or line break around it\.$/)
  }
  expect(() => readSettings({ [name]: '' })).not.toThrow()
  expect(() => readSettings({ [name]: `${value} x` })).not.toThrow('around it')
})

test('hours are kept for 90 days, and never shorter than calls', () => {
  const kept = (days: string, ofCalls = '') =>
    readSettings({ GATEHOUSE_HOURLY_DAYS: days, GATEHOUSE_RETENTION_DAYS: ofCalls }).hourlyDays
  expect([kept(''), kept('', '365'), kept('20', '30'), kept('15', '15')]).toEqual([90, 365, 30, 15])
})

test('a key is never repeated in a message, and never printed from the settings', () => {
  const key = 'sk-svc-canary canary'
  for (const name of ['GATEHOUSE_BOOTSTRAP_KEY', 'OPENAI_API_KEY']) {
    expect(() => readSettings({ [name]: key })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('canary') }),
    )
  }
  const settings = readSettings({ OPENAI_API_KEY: 'sk-canary' })
  const shown =
    Bun.inspect(settings, { depth: 9 }) +
    JSON.stringify([...settings.providerKeys]) +
    String(settings.providerKeys.get('openai'))
  expect(shown).not.toContain('canary')
  expect(settings.providerKeys.get('openai')?.reveal()).toBe('sk-canary')
})

test('an address loses its trailing slash, and empty variables count as absent', () => {
  const settings = readSettings({
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/',
    GATEHOUSE_PORT: '',
    MISTRAL_API_KEY: '',
  })
  expect(settings.providerBaseUrls.get('openai')).toBe('http://127.0.0.1:9/v1')
  expect(settings.port).toBe(4000)
  expect(settings.providerKeys.has('mistral')).toBe(false)
})

test('an IPv6 host may be in brackets, as it is in addresses', () => {
  for (const host of ['[::1]', '::1'])
    expect(readSettings({ GATEHOUSE_HOST: host }).host).toBe('::1')
})

test('a misspelt variable is reported', () => {
  expect(readSettings({ GATEHOUSE_PROT: '1', PATH: '/bin' }).unknownVariables).toEqual([
    'GATEHOUSE_PROT',
  ])
})

test('calls go on without Postgres for longer if Redis reports changes', () => {
  const graceMs = (environment: Record<string, string>) =>
    readSettings(environment).nodes.storeOutage.graceMs
  expect(graceMs({})).toBe(60_000)
  expect(graceMs({ REDIS_URL: 'redis://cache' })).toBe(600_000)
  expect(graceMs({ REDIS_URL: 'redis://cache', GATEHOUSE_STORE_GRACE_MS: '7' })).toBe(7)
})
