/** Reads input of commands: text of limited length, secrets, and agreement to a deletion. */
import { readAtMost } from '../core/http.ts'
import { CliError } from './cli-error.ts'
import { terminal } from './terminal.ts'

export async function readSecret(question: string): Promise<string> {
  if (!terminal().input.isTerminal) return (await readStandardInput()).trim()
  const answer = await terminal().askSecret(question)
  if (answer === undefined) throw new CliError('interrupted', 'Cancelled.')
  return answer.trim()
}

export async function readStandardInput(): Promise<string> {
  return await terminal().input.readText()
}

export function canAsk(): boolean {
  const { input, error } = terminal()
  return input.isTerminal && error.isTerminal
}

/** Asks before a deletion. Without a terminal, running the command counts as consent. */
export async function confirmDeletion(what: string, isAgreed: boolean): Promise<void> {
  if (isAgreed || !canAsk()) return
  const answer = await terminal().askYes(`Delete ${what}?`)
  if (answer === undefined) throw new CliError('interrupted', 'Cancelled.')
  if (!answer) throw new CliError('failed', 'Nothing was deleted.')
}

/** Twice the default limit of the gateway's request bodies. */
const MAX_MIB = 64

/**
 * @param name used in the message, before `consequence`
 * @throws CliError above the limit
 */
export async function readBounded(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  consequence = 'nothing was done',
): Promise<string> {
  const read = await readAtMost(pieces, MAX_MIB * 1024 * 1024)
  if (read === undefined)
    throw new CliError('failed', `${name} has more than ${MAX_MIB} MiB: ${consequence}.`)
  return new TextDecoder().decode(read)
}
