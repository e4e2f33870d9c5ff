/**
 * Asks a person for secrets that must not stand on a command line, and for a yes before a deletion.
 */
import { CliError } from './cli-error.ts'
import { terminal } from './terminal.ts'

/** A secret from a hidden prompt, or from standard input when that is no terminal. */
export async function readSecret(question: string): Promise<string> {
  if (!terminal().input.isTerminal) return (await readStandardInput()).trim()
  const answer = await terminal().askSecret(question)
  if (answer === undefined) throw new CliError('interrupted', 'Cancelled.')
  return answer.trim()
}

export async function readStandardInput(): Promise<string> {
  return await terminal().input.readText()
}

/** True where somebody sits there who sees a question and can answer it. */
export function canAsk(): boolean {
  const { input, error } = terminal()
  return input.isTerminal && error.isTerminal
}

/**
 * Asks before something that cannot be undone; a script without a terminal has said yes by calling.
 */
export async function confirmDeletion(what: string, isAgreed: boolean): Promise<void> {
  if (isAgreed || !canAsk()) return
  const answer = await terminal().askYes(`Delete ${what}?`)
  if (answer === undefined) throw new CliError('interrupted', 'Cancelled.')
  if (!answer) throw new CliError('failed', 'Nothing was deleted.')
}
