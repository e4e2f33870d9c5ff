/** The commands that are loaded for given words. */
import { expect, test } from 'bun:test'
import { Command } from 'commander'
import type { CliContext } from './context.ts'
import { COMMANDS, loadCommands } from './program.ts'

const ALL = Object.keys(COMMANDS)

async function namesFor(words: readonly string[]): Promise<string[]> {
  const program = new Command()
  for (const bind of await loadCommands(words)) bind(program, {} as CliContext)
  return program.commands.map((command) => command.name())
}

test.each(ALL)('%s alone is loaded if it is named', async (name) => {
  expect(await namesFor([name])).toEqual([name])
  expect(await namesFor([name, '--help'])).toEqual([name])
  expect(await namesFor(['--json', name, 'list'])).toEqual([name])
})

test.each([
  [[]],
  [['--help']],
  [['--help', 'gates']],
  [['help', 'gates']],
  [['gatse', 'list']],
  [['toString']],
])('every command is loaded for %j', async (words) => {
  expect(await namesFor(words)).toEqual(ALL)
})
