/** What commands ask a person for: secrets that must not stand on a command line, and a yes before a deletion. */
import { CliError } from './cli-error.ts'

/** A secret from a hidden prompt, or from standard input when that is no terminal. */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await readStandardInput()).trim()
  const { password, isCancel } = await import('@clack/prompts')
  const answer = await password({ message: question, output: process.stderr })
  if (isCancel(answer)) throw new CliError('interrupted', 'Cancelled.')
  return (answer ?? '').trim()
}

export async function readStandardInput(): Promise<string> {
  return await Bun.stdin.text()
}

/** Asks before something that cannot be undone; a script without a terminal has said yes by calling. */
export async function confirmDeletion(what: string, isAgreed: boolean): Promise<void> {
  if (isAgreed || !process.stdin.isTTY || !process.stderr.isTTY) return
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: `Delete ${what}?`, initialValue: false, output: process.stderr })
  if (isCancel(answer)) throw new CliError('interrupted', 'Cancelled.')
  if (!answer) throw new CliError('failed', 'Nothing was deleted.')
}
