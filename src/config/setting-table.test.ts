/** The table of settings, walked: each entry is whole, and the server reads it as its type says. */
import { describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { loadSettings } from './load-settings.ts'
import { parseSetting } from './read-setting.ts'
import { COMMAND_LINE_SUBJECT, SERVER_SUBJECTS, SETTINGS } from './setting-table.ts'
import { type Setting, SettingsError } from './setting-type.ts'
import { readSettings } from './settings.ts'

const entries: readonly (readonly [string, Setting])[] = Object.entries(SETTINGS)
const serverEntries = SERVER_SUBJECTS.flatMap(({ settings }) => Object.entries(settings))

/** With it, nothing is left out because something else is off. */
const EVERYTHING_ON: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://u@h/d',
  REDIS_URL: 'redis://cache',
  GATEHOUSE_METRICS_PORT: '0',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
}

describe.each(entries)('%s', (name, setting) => {
  test('has a name that a shell takes, and one sentence in one line, without its default', () => {
    expect(name).toMatch(/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/)
    expect(setting.sentence).toMatch(/^\S.{5,118}\S$/)
    expect(setting.sentence).not.toMatch(/[.\n]$|default/i)
    expect(setting.note ?? 'none').toMatch(/^\S.*[^\s.]$/)
  })

  test('has a default that its type accepts, or a text for its absence', () => {
    if (setting.default === undefined) {
      expect(setting.without).toMatch(/^\S.*\S$/)
      expect(setting.defaultWith).toBeUndefined()
    } else {
      expect(setting.without).toBeUndefined()
      expect(parseSetting(name, setting, String(setting.default))).toBe(setting.default)
    }
    if (setting.defaultWith === undefined) return
    const { setting: other, default: otherDefault } = setting.defaultWith
    expect(Object.keys(SETTINGS)).toContain(other)
    expect(parseSetting(name, setting, String(otherDefault))).toBe(otherDefault)
  })
})

test('each setting stands under one subject, once', () => {
  const names = [...SERVER_SUBJECTS, COMMAND_LINE_SUBJECT].flatMap(({ settings }) =>
    Object.keys(settings),
  )
  expect(names.toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
  const sentences = entries.map(([, { sentence }]) => sentence)
  expect(sentences.toSorted()).toEqual([...new Set(sentences)].toSorted())
})

test('a start reads every setting of the table, and no other variable of the gateway', async () => {
  const asked = new Set<string>()
  // One of no folder: no configuration file of this machine is found by chance.
  const given: Readonly<Record<string, string>> = {
    ...EVERYTHING_ON,
    GATEHOUSE_DATA_DIR: `${tmpdir()}/none-here`,
  }
  const environment = new Proxy(given, {
    get(target, name) {
      asked.add(String(name))
      return Reflect.get(target, name)
    },
  })
  await loadSettings(environment)
  const names = serverEntries.map(([name]) => name)
  expect(names.filter((name) => !asked.has(name))).toEqual([])
  // Headers are the exporter's own to read: only their form is looked at here.
  const ours = [...asked].filter((name) => /^(?:GATEHOUSE|OTEL)_(?!.*OTLP.*HEADERS$)/.test(name))
  expect(ours.filter((name) => !names.includes(name))).toEqual([])
})

/** A text that no setting of the type takes; none where every text will do. */
function wrongValues({ type }: Setting): readonly string[] {
  switch (type.type) {
    case 'integer':
    case 'integerOrAuto':
      return [
        '-1',
        '1.5',
        '1e3',
        '0x10',
        ' 1',
        `${type.min - 1}`,
        `${type.max + 1}`,
        '9'.repeat(400),
      ]
    case 'share':
      return ['2', '-1', 'half', '1e-3', '.']
    case 'choice':
      return ['planted', ` ${type.choices[0]}`, type.choices[0].toUpperCase()]
    case 'list':
      return type.accepts === undefined ? [] : ['*', 'x-good,two words', 'é'.repeat(70)]
    case 'text':
    case 'secret':
      return type.form === undefined ? [] : ['planted planted', '\n']
  }
}

const wrong = serverEntries.flatMap(([name, setting]) =>
  wrongValues(setting).map((value) => ({ name, setting, value })),
)

test('an invalid value stops the start, with the name and without a secret', () => {
  expect(wrong.length).toBeGreaterThan(300)
  for (const { name, setting, value } of wrong) {
    const thrown = failureOf(() => readSettings({ ...EVERYTHING_ON, [name]: value }))
    expect({ name, value, thrown }).toEqual({ name, value, thrown: expect.any(SettingsError) })
    expect(thrown?.message).toStartWith(`${name} must be `)
    if (setting.type.type === 'secret') expect(thrown?.message).not.toContain('planted')
  }
})

test('each number takes its limits, and an empty value counts as absent', () => {
  for (const [name, { type }] of serverEntries) {
    const limits = 'min' in type ? [type.min, type.max] : []
    for (const value of ['', ...limits.map(String)])
      expect(failureOf(() => readSettings({ ...EVERYTHING_ON, [name]: value }))).toBeUndefined()
  }
})

function failureOf(act: () => unknown): Error | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}
