/** A command reads, writes and asks where its context says, and nowhere else. */
import { describe, expect, test } from 'bun:test'
import { COMMAND_LINE_SUBJECT, SERVER_SUBJECTS } from '../config/setting-table.ts'
import type { Setting } from '../config/setting-type.ts'
import { CliError } from './cli-error.ts'
import type { CliContext } from './context.ts'
import { runProgram } from './program.ts'
import { type Terminal, terminal } from './terminal.ts'

interface Scene {
  readonly context: CliContext
  readonly written: { output: string; error: string }
  readonly asked: string[]
}

interface Person {
  readonly width?: number
  readonly hasColours?: boolean
  /** The answer to every question; undefined: the person cancels. */
  readonly answer?: { readonly secret?: string; readonly yes?: boolean }
}

/** A person at a terminal, and a gateway that keeps nothing. */
function sit(person: Person = {}, overrides: Partial<CliContext> = {}): Scene {
  const written = { output: '', error: '' }
  const asked: string[] = []
  const screen = (name: 'output' | 'error') => ({
    isTerminal: true,
    width: person.width ?? 80,
    write: (text: string) => {
      written[name] += text
    },
  })
  const at: Terminal = {
    input: { isTerminal: true, readText: () => Promise.reject(new Error('not a file')) },
    output: screen('output'),
    error: screen('error'),
    hasColours: person.hasColours ?? false,
    async askSecret(question) {
      asked.push(question)
      return person.answer?.secret
    },
    async askYes(question) {
      asked.push(question)
      return person.answer?.yes
    },
    askChoice: refuse,
    onReaderGone: () => {},
    exitCode: 0,
  }
  return { context: { ...house(at), ...overrides }, written, asked }
}

const refuse = () => Promise.reject(new Error('not asked for'))

function house(at: Terminal): CliContext {
  return {
    version: '1.2.3',
    environment: {},
    folder: '/',
    terminal: at,
    serve: refuse,
    openLocal: async () => ({
      send: async (request) =>
        request.method === 'DELETE'
          ? new Response(null, { status: 204 })
          : Response.json({
              provider: 'p',
              maskedKey: (await request.text()).length,
              active: true,
            }),
      apiKey: 'key',
      close: async () => {},
    }),
    openLocalUsers: refuse,
    masterKey: { status: refuse, rotate: refuse },
    copyStore: refuse,
    acceptStore: refuse,
    adoptStore: refuse,
    examine: refuse,
  }
}

test.each([
  [['keys', 'delete', '', '--yes'], 'id'],
  [['gates', 'show', ''], 'id'],
  [['tags', 'update', '', '--name', 'x'], 'id'],
  [['call', '', 'Hello'], 'gate'],
])(
  'an empty argument, as of a variable that is not set, is wrong usage: %j',
  async (words, name) => {
    const { context, written } = sit()
    expect(await runProgram(context, words)).toBe(2)
    expect(written).toEqual({
      output: '',
      error: `gatehouse: <${name}> is empty: is a variable of the shell not set?\n`,
    })
  },
)

test.each(['create', 'update'])(
  'an empty end is refused by keys %s: it means none',
  async (verb) => {
    const { context, written } = sit()
    expect(await runProgram(context, ['keys', verb, 'ci', '--expires-at', ''])).toBe(2)
    expect(written).toEqual({ output: '', error: expect.stringContaining('The value is empty') })
  },
)

test.each(['sk-svc-planted\n', ' sk-svc-planted', 'Bearer sk-svc-planted'])(
  'a key with more around it is refused with what that may be: %j',
  async (GATEHOUSE_API_KEY) => {
    const environment = { GATEHOUSE_URL: 'http://127.0.0.1:1', GATEHOUSE_API_KEY }
    const { context, written } = sit({}, { environment })
    expect(await runProgram(context, ['keys', 'list'])).toBe(3)
    expect(written.output).toBe('')
    expect(written.error).toContain("such as a space, a line break or the word 'Bearer'")
    expect(written.error).not.toContain('planted')
  },
)

describe('a person at a terminal', () => {
  const words = ['gates', 'delete', 'demo']

  test.each([
    ['agrees', { yes: true }, 0, 'Deleted demo.\n', ''],
    ['does not', { yes: false }, 1, '', 'gatehouse: Nothing was deleted.\n'],
    ['cancels', {}, 130, '', 'gatehouse: Cancelled.\n'],
  ])('gets a question before a deletion and %s', async (_what, answer, exitCode, output, error) => {
    const { context, written, asked } = sit({ answer })
    expect(await runProgram(context, words)).toBe(exitCode)
    expect(written).toEqual({ output, error })
    expect(asked).toEqual(['Delete the gate demo?'])
  })

  test('with --yes gets no question', async () => {
    const { context, asked } = sit()
    expect(await runProgram(context, [...words, '--yes'])).toBe(0)
    expect(asked).toEqual([])
  })

  test('types a secret at a hidden prompt, or cancels', async () => {
    const typed = sit({ answer: { secret: ' sk-planted \n' } })
    expect(await runProgram(typed.context, ['provider-keys', 'set', 'p'])).toBe(0)
    expect(typed.asked).toEqual(['The key for p'])
    expect(typed.written.output).toBe(
      `Set ${JSON.stringify({ key: 'sk-planted', active: true }).length} for p.\n`,
    )
    const cancelled = sit()
    expect(await runProgram(cancelled.context, ['provider-keys', 'set', 'p'])).toBe(130)
    expect(cancelled.written).toEqual({ output: '', error: 'gatehouse: Cancelled.\n' })
  })

  test('sees colours where there are any, and help as wide as the screen', async () => {
    const examine = async () =>
      [{ level: 'fail', check: 'port', message: 'taken', cure: 'c' }] as const
    for (const hasColours of [true, false]) {
      const { context, written } = sit({ hasColours }, { examine })
      expect(await runProgram(context, ['doctor'])).toBe(1)
      expect(written.output.startsWith('\u001b[31mfail\u001b[0m')).toBe(hasColours)
    }
    const lines = async (width: number) => {
      const { context, written } = sit({ width })
      expect(await runProgram(context, ['gates', 'create', '--help'])).toBe(0)
      return written.output.split('\n').length
    }
    expect(await lines(80)).toBeGreaterThan(await lines(200))
  })
})

test('two commands at the same time keep their output and their exit codes apart', async () => {
  const both = (['fail', 'ok'] as const).map((level) => {
    const examine = async () => {
      await Bun.sleep(1)
      return [{ level, check: 'port', message: `it is ${level}` }]
    }
    return sit({}, { examine })
  })
  const codes = await Promise.all(both.map(({ context }) => runProgram(context, ['doctor'])))
  expect(codes).toEqual([1, 0])
  expect(both.map(({ written }) => /it is (\w+)/.exec(written.output)?.[1])).toEqual(['fail', 'ok'])
})

test("a server does not hold its command's terminal, and a failure to start is shown there", async () => {
  let carried: unknown
  const serve = async () => {
    await Bun.sleep(1)
    try {
      carried = terminal()
    } catch {
      throw new CliError('conflict', 'It is taken.')
    }
  }
  const { context, written } = sit({}, { serve })
  expect(await runProgram(context, ['serve'])).toBe(5)
  expect(carried).toBeUndefined()
  expect(written).toEqual({ output: '', error: 'gatehouse: It is taken.\n' })
})

test('commands that call a gateway read every setting of the command line', async () => {
  const asked = new Set<string>()
  const given: Readonly<Record<string, string>> = { GATEHOUSE_URL: 'http://user@not-to-be-asked' }
  const environment = new Proxy(given, {
    get(target, name) {
      asked.add(String(name))
      return Reflect.get(target, name)
    },
  })
  const { context } = sit({}, { environment })
  expect(await runProgram(context, ['gates', 'list'])).toBe(2)
  expect(await runProgram(context, ['connect', 'env', '--url', 'http://127.0.0.1:1'])).toBe(130)
  expect(Object.keys(COMMAND_LINE_SUBJECT.settings).filter((name) => !asked.has(name))).toEqual([])
})

describe('serve --help', () => {
  const settings = Object.assign(
    {},
    ...SERVER_SUBJECTS.map((subject) => subject.settings),
  ) as Record<string, Setting>

  test('lists every setting of a server once, with its sentence and its default', async () => {
    const { context, written } = sit({ width: 10_000 })
    expect(await runProgram(context, ['serve', '--help'])).toBe(0)
    const lines = written.output.split('\n')
    expect(lines.filter((line) => /^ {2}[A-Z_]+$/.test(line)).length).toBe(
      Object.keys(settings).length,
    )
    for (const [name, { sentence, default: fallback, without }] of Object.entries(settings)) {
      const described = lines[lines.indexOf(`  ${name}`) + 1]
      expect(described).toStartWith(`      ${sentence} (`)
      expect(described).toContain(`default: ${fallback ?? without}`)
    }
  })

  test.each([60, 80, 200])('fits into %p columns', async (width) => {
    const { context, written } = sit({ width })
    await runProgram(context, ['serve', '--help'])
    const [, list = ''] = written.output.split('\nProcess:\n')
    // A word that is longer than the line, such as an address, is not broken.
    const tooLong = list
      .split('\n')
      .filter((line) => line.length > width && line.trim().includes(' '))
    expect(tooLong).toEqual([])
  })
})
