/**
 * The terminal of a command: three streams, the person and the exit code. An async context passes
 * the terminal to functions.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Terminal {
  readonly input: {
    readonly isTerminal: boolean
    readText(): Promise<string>
  }
  readonly output: Screen
  readonly error: Screen
  /** Whether standard output may be coloured (https://no-color.org). */
  readonly hasColours: boolean
  /**
   * Shows a hidden prompt; needs a keyboard.
   * @returns undefined when the person cancels
   */
  askSecret(question: string): Promise<string | undefined>
  /**
   * Needs a keyboard.
   * @returns undefined when the person cancels
   */
  askYes(question: string): Promise<boolean | undefined>
  /**
   * Shows a menu; needs a keyboard.
   * @returns undefined when the person cancels
   */
  askChoice(question: string, choices: readonly string[]): Promise<string | undefined>
  /** Calls `leave` once when the reader of standard output has closed it (`| head`). */
  onReaderGone(leave: (error: Error) => void): void
  /** 0 until a command sets the code; the exit code of a failure replaces this code. */
  exitCode: number
}

interface Screen {
  readonly isTerminal: boolean
  readonly width: number
  readonly write: (text: string) => void
}

/** Width without a terminal, or of a terminal that does not report its width. */
export const DEFAULT_WIDTH = 80

const terminals = new AsyncLocalStorage<Terminal>()
const outside = AsyncLocalStorage.snapshot()

export function withTerminal<Result>(at: Terminal, work: () => Result): Result {
  return terminals.run(at, work)
}

/**
 * For work that continues after its command has ended: a server would carry the terminal through
 * every call, at a cost.
 */
export function withoutTerminal<Result>(work: () => Result): Result {
  return outside(work)
}

/** @throws outside a command, so that no other stream is written to by accident */
export function terminal(): Terminal {
  const found = terminals.getStore()
  if (found === undefined) throw new Error('There is no terminal outside a command.')
  return found
}
