/**
 * Runs a command of the program in the test's own process, with the test's streams, environment and
 * folder.
 */
import { resolve } from 'node:path'
import { runProgram } from '../../src/cli/program.ts'
import { DEFAULT_WIDTH, type Terminal } from '../../src/cli/terminal.ts'
import { createCliContext } from '../../src/run/create-cli-context.ts'
import type { Ran, RunOptions } from './run-cli.ts'

/** A person at a terminal. A question without an answer cancels. */
export interface Person {
  readonly secret?: string
  readonly yes?: boolean
  readonly choices?: readonly string[]
}

/**
 * Like `runCli`, and commands may run concurrently.
 * @throws for `serve`, which would take the test's signals
 */
export async function runCliInProcess(
  words: readonly string[],
  { environment, input = '', folder, person }: RunOptions & { readonly person?: Person },
): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env
  const written = { output: '', error: '' }
  let served = false
  const context = createCliContext({
    environment: { PATH, HOME, ...environment },
    folder: folder ?? resolve(import.meta.dir, '../..'),
    terminal: person === undefined ? pipes(input, written) : screenOf(person, written),
    async serve() {
      served = true
    },
  })
  const exitCode = await runProgram(context, words)
  if (served) throw new Error('A server needs a process of its own: use runCli or startGatehouse.')
  return { exitCode, stdout: written.output, stderr: written.error }
}

function pipes(input: string, written: { output: string; error: string }): Terminal {
  const pipeTo = (name: keyof typeof written) => ({
    isTerminal: false,
    width: DEFAULT_WIDTH,
    write: (text: string) => {
      written[name] += text
    },
  })
  const refuse = (question: string) =>
    Promise.reject(new Error(`There is nobody to ask: ${question}`))
  return {
    input: { isTerminal: false, readText: async () => input },
    output: pipeTo('output'),
    error: pipeTo('error'),
    hasColours: false,
    askSecret: refuse,
    askYes: refuse,
    askChoice: refuse,
    onReaderGone: () => {},
    exitCode: 0,
  }
}

function screenOf(person: Person, written: { output: string; error: string }): Terminal {
  const base = pipes('', written)
  const choices = [...(person.choices ?? [])]
  const ask = (question: string) => base.error.write(`? ${question}\n`)
  return {
    ...base,
    input: { ...base.input, isTerminal: true },
    output: { ...base.output, isTerminal: true },
    error: { ...base.error, isTerminal: true },
    async askSecret(question) {
      ask(question)
      return person.secret
    },
    async askYes(question) {
      ask(question)
      return person.yes
    },
    async askChoice(question, offered) {
      ask(`${question}: ${offered.join(' ')}`)
      return choices.shift()
    },
  }
}
