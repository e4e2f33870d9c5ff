/** Commands of the program that documents, deployments and messages name exist, with each option. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import type { CliContext } from '../../src/cli/context.ts'
import { loadCommands } from '../../src/cli/program.ts'

const HOUSE = resolve(import.meta.dir, '../..')
/** Decisions and the changelog tell of commands that have gone. */
const TEXTS = ['README.md', 'AGENTS.md', 'docs/*.md', 'docs/guides/*.md', 'docs/operations/*.md']
const MORE = ['deploy/**/*', 'compose.yaml', '.env.example', 'Dockerfile', 'web/**/*.{ts,tsx}']
/** In a block or in quotes, up to where the shell, the quotes or a sentence end it. */
const NAMED = /(?:^|[`($] ?|&& |\| )gatehouse ((?:-|[a-z])[^`\n|&;)#<>]*)/gm
/** A row of the list of commands: one with all of its words, then others of the same command. */
const ROW = /^\| `gatehouse ([\w-]+) .*?(?= \| )/gm
const WORD = /(?<=^|[\s[])(?:--?)?[a-z][\w-]*/g

const texts = [...TEXTS, ...MORE].flatMap((pattern) =>
  [...new Bun.Glob(pattern).scanSync({ cwd: HOUSE, dot: true })].map((path) => ({
    path,
    text: readFileSync(join(HOUSE, path), 'utf8'),
  })),
)

async function createProgram(): Promise<Command> {
  const program = new Command('gatehouse').option('--json').option('--help').option('--version')
  const context = { environment: {} } as CliContext
  for (const bind of await loadCommands([])) bind(program, context)
  return program
}

/** @returns the words that name no command, or no option of the command that they follow */
function findUnknown(program: Command, words: readonly string[]): readonly string[] {
  let within = program
  const unknown: string[] = []
  for (const [index, word] of words.entries()) {
    const child = within.commands.find((command) => command.name() === word)
    const options = [...within.options, ...program.options]
    if (child !== undefined) within = child
    else if (word.startsWith('-')) {
      if (!options.some(({ long, short }) => word === long || word === short)) unknown.push(word)
    } else if (within.commands.length > 0 && words[index - 1]?.startsWith('-') !== true)
      unknown.push(word)
  }
  return unknown
}

test('a command that is named exists, and so do its options', async () => {
  const program = await createProgram()
  const named = texts.flatMap(({ path, text }) => [
    ...[...text.matchAll(NAMED)].map(([, command = '']) => ({ path, command })),
    ...[...text.matchAll(ROW)].flatMap(([row, name = '']) =>
      [...row.matchAll(/, `([a-z][^`]*)`/g)].map(([, rest]) => ({
        path,
        command: `${name} ${rest}`,
      })),
    ),
  ])
  expect(named.length).toBeGreaterThan(150)
  const wrong = named.flatMap(({ path, command }) => {
    const unknown = findUnknown(program, command.replaceAll(/".*?"/g, '').match(WORD) ?? [])
    return unknown.length === 0 ? [] : [{ path, command, unknown }]
  })
  expect(wrong).toEqual([])
})

test('each command is in the list of commands', async () => {
  const list = readFileSync(join(HOUSE, 'docs/guides/command-line.md'), 'utf8')
  const { commands } = await createProgram()
  const missing = commands
    .map((command) => command.name())
    .filter((name) => !new RegExp(`^\\| \`gatehouse ${name}[ \`]`, 'm').test(list))
  expect(missing).toEqual([])
})
