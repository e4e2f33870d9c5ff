/** Every command explains itself: its arguments, an example, what must be given, its exit codes. */
import { expect, test } from 'bun:test'
import { Command } from 'commander'
import { runCliInProcess } from '../../test/support/run-cli-in-process.ts'
import { WEBHOOK_EVENTS } from '../core/webhook.ts'
import type { CliContext } from './context.ts'
import { COMMANDS, loadCommands } from './program.ts'

const run = (words: readonly string[]) => runCliInProcess(words, { environment: {} })

/** The words of each command that does something itself. */
async function everyCommand(): Promise<readonly (readonly string[])[]> {
  const program = new Command('gatehouse')
  const context = { environment: {} } as CliContext
  for (const bind of await loadCommands([])) bind(program, context)
  const below = (command: Command, words: readonly string[]): readonly string[][] =>
    command.commands.length === 0
      ? [[...words]]
      : command.commands.flatMap((child) => below(child, [...words, child.name()]))
  return below(program, [])
}

test('the help of a command explains each of its arguments, and gives an example', async () => {
  const commands = await everyCommand()
  expect(commands.length).toBeGreaterThan(Object.keys(COMMANDS).length)
  for (const words of commands) {
    const { exitCode, stdout } = await run([...words, '--help'])
    const [usage = '', ...rest] = stdout.split('\n')
    const help = rest.join('\n')
    const explained = [...usage.matchAll(/<(\w+)>/g)].filter(
      ([, name]) => !new RegExp(`^  ${name}  +\\S`, 'm').test(help),
    )
    expect({ words, exitCode, unexplained: explained.map(([name]) => name) }).toEqual({
      words,
      exitCode: 0,
      unexplained: [],
    })
    expect(help).toContain('  $ ')
    expect(help).toContain('Exit codes: ')
  }
})

test('the help of a command says which of its options must be given', async () => {
  const { stdout } = await run(['owned-models', 'create', '--help'])
  const required = stdout.split(/\n {2}(?=-)/).filter((option) => /\(required\)/.test(option))
  expect(required.map((option) => /^--[\w-]+/.exec(option)?.[0]).sort()).toEqual([
    '--base-url',
    '--dialect',
    '--model',
  ])
})

test('the help of a budget names the share at which calls are refused by default', async () => {
  const { stdout } = await run(['budgets', 'create', '--help'])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('at which calls are refused (default: 1.2)')
})

test('the help of a webhook names every event', async () => {
  const { stdout } = await run(['webhooks', 'create', '--help'])
  for (const event of WEBHOOK_EVENTS) expect(stdout).toContain(event)
})

test.each([
  [['help', 'keyz'], 'keys'],
  [['keyz', '--help'], 'keys'],
  [['gates', 'help', 'creat'], 'create'],
  [['gates', 'creat', '-h'], 'create'],
])('help on a command that there is not names the likely one: %p', async (words, meant) => {
  const ran = await run(words)
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
  expect(ran.stderr).toContain(`Did you mean ${meant}?`)
})

test('an argument that is called help is an argument', async () => {
  const ran = await run(['gates', 'show', 'help', '--help'])
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
  expect(ran.stdout).toContain('show one gate')
})

test('help names a command by all of its words, as --help behind them does', async () => {
  for (const words of [['keys', 'create'], ['gates', 'show'], ['config', 'push'], ['doctor']]) {
    const behind = await run([...words, '--help'])
    for (const asked of [
      ['help', ...words],
      ['--json', 'help', ...words],
    ])
      expect(await run(asked)).toEqual(behind)
  }
})
