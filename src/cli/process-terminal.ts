import type { WriteStream } from 'node:tty'
import { readBounded } from './input.ts'
import { toPrintable } from './output.ts'
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
  async askChoice(question, choices) {
    const { select, isCancel } = await import('@clack/prompts')
    const options = choices.map((value) => ({ value, label: toPrintable(value) }))
    const answer = await select({
      message: question,
      options,
      output: process.stderr,
      maxItems: 10,
    })
    return isCancel(answer) ? undefined : answer
  },
  onReaderGone(leave) {
    process.stdout.once('error', (error) => {
      // After the first failure every write fails.
      process.stdout.on('error', () => {})
      // Cannot be reported when both streams are redirected to the same full disk.
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
