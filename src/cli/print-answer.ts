import type { Client } from './client.ts'
import { terminal } from './terminal.ts'

/**
 * Prints an answer as it arrives. Returns early when the reader of the output leaves.
 * @throws CliError for every status but 2xx
 */
export async function printAnswer(
  ask: (signal: AbortSignal) => ReturnType<Client['open']>,
): Promise<void> {
  const leaving = new AbortController()
  terminal().onReaderGone(() => leaving.abort())
  const decoder = new TextDecoder()
  try {
    const answer = await ask(leaving.signal)
    for await (const piece of answer.body ?? [])
      terminal().output.write(decoder.decode(piece, { stream: true }))
  } catch (error) {
    if (!leaving.signal.aborted) throw error
  }
}
