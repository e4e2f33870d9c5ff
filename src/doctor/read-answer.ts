/** Reads the answer of whatever stands at the server's address, which may have no end. */
import { readAtMost } from '../core/http.ts'

/** Larger than the metrics of any gateway. */
const MAX_BYTES = 32 * 1024 * 1024

/** @returns nothing of an answer that is longer than a gateway's */
export async function readAnswer(response: Response): Promise<string> {
  return new TextDecoder().decode(await readAtMost(response.body ?? [], MAX_BYTES))
}
