/**
 * Reads text that somebody pointed a command at, which may be a device or a pipe without end. Must
 * not know what the text is for.
 */
import { readAtMost } from '../core/http.ts'
import { CliError } from './cli-error.ts'

/** Twice the largest body that the gateway takes unless told otherwise. */
const MAX_MIB = 64

/**
 * @param name for the message, with what became of it
 * @throws CliError where there is more than anybody means to give
 */
export async function readBounded(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  consequence = 'nothing was done',
): Promise<string> {
  const read = await readAtMost(pieces, MAX_MIB * 1024 * 1024)
  if (read === undefined)
    throw new CliError('failed', `There is more than ${MAX_MIB} MiB in ${name}: ${consequence}.`)
  return new TextDecoder().decode(read)
}
