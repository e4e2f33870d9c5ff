/**
 * The process as a command sees it: its three streams, the person at them and its exit code. It
 * goes along with the command, so that nothing on the way has to hand it on. It must not know any
 * command, nor whose process it is.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Terminal {
  readonly input: {
    /** A keyboard rather than a file or a pipe. */
    readonly isTerminal: boolean
    /** All of it. */
    readText(): Promise<string>
  }
  readonly output: Screen
  readonly error: Screen
  /** True where standard output may be coloured (https://no-color.org). */
  readonly hasColours: boolean
  /** At a hidden prompt; needs a keyboard. @returns undefined when the person cancels */
  askSecret(question: string): Promise<string | undefined>
  /** Needs a keyboard. @returns undefined when the person cancels */
  askYes(question: string): Promise<boolean | undefined>
  /** Calls back once when the reader of standard output has closed it (`| head`). */
  onReaderGone(leave: (error: Error) => void): void
  /** 0 until a command sets it; a command that fails ends with its failure's instead. */
  exitCode: number
}

interface Screen {
  /** A screen rather than a file or a pipe. */
  readonly isTerminal: boolean
  /** In columns. A default without a terminal. */
  readonly width: number
  readonly write: (text: string) => void
}

/** Width of a terminal that does not report one, or without a terminal. */
export const DEFAULT_WIDTH = 80

const terminals = new AsyncLocalStorage<Terminal>()
const outside = AsyncLocalStorage.snapshot()

/** All that `work` reads, writes and asks goes to `at`. */
export function withTerminal<Result>(at: Terminal, work: () => Result): Result {
  return terminals.run(at, work)
}

/**
 * For what goes on when its command has ended: a server would carry the terminal through every
 * call, at a cost.
 */
export function withoutTerminal<Result>(work: () => Result): Result {
  return outside(work)
}

/** @throws outside of a command: no other stream is written to by accident */
export function terminal(): Terminal {
  const found = terminals.getStore()
  if (found === undefined) throw new Error('There is no terminal outside of a command.')
  return found
}
