/** This very process as a terminal. Knows no command. */
import type { WriteStream } from 'node:tty'
import { readBounded } from './input.ts'
import { DEFAULT_WIDTH, type Terminal } from './terminal.ts'

export const processTerminal: Terminal = {
  input: {
    get isTerminal() {
      return process.stdin.isTTY === true
    },
    readText: () => readBounded(Bun.stdin.stream(), 'standard input'),
  },
  output: screenOf(() => process.stdout),
  error: screenOf(() => process.stderr),
  get hasColours() {
    return process.stdout.isTTY === true && !process.env.NO_COLOR
  },
  async askSecret(question) {
    const { password, isCancel } = await import('@clack/prompts')
    const answer = await password({ message: question, output: process.stderr })
    return isCancel(answer) ? undefined : (answer ?? '')
  },
  async askYes(question) {
    const { confirm, isCancel } = await import('@clack/prompts')
    const answer = await confirm({ message: question, initialValue: false, output: process.stderr })
    return isCancel(answer) ? undefined : answer
  },
  onReaderGone(leave) {
    process.stdout.once('error', (error) => {
      // Every write after the first failure fails too.
      process.stdout.on('error', () => {})
      // Cannot be reported where both streams go to the same full disk.
      process.stderr.on('error', () => {})
      leave(error)
    })
  },
  get exitCode() {
    return Number(process.exitCode ?? 0)
  },
  set exitCode(code) {
    process.exitCode = code
  },
}

/** Each stream is opened when it is first asked for. */
function screenOf(stream: () => WriteStream): Terminal['output'] {
  return {
    get isTerminal() {
      return stream().isTTY === true
    },
    get width() {
      return stream().columns || DEFAULT_WIDTH
    },
    write: (text) => void stream().write(text),
  }
}
