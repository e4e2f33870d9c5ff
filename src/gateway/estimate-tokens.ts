/** How many tokens a call will probably use at most, from what accept has read already. Exactness is settle's business. */
import type { AcceptedRequest } from '../wire/dialect.ts'

/** English text; JSON around it makes up for languages that take more. */
const BYTES_PER_TOKEN = 4
/** More than any model writes: a cap beyond it says nothing. */
const MAX_OUTPUT_TOKENS = 1_000_000
/** Where the dialects say how long the answer may become. Each knows one of them, OpenAI's chat two. */
const OUTPUT_CAPS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens']

/** A whole number: the body as text, and the whole of the output cap where there is one. */
export function estimateTokens({ body }: Pick<AcceptedRequest, 'body'>): number {
  return Math.ceil(body.bytes.byteLength / BYTES_PER_TOKEN) + readOutputCap(body)
}

function readOutputCap(body: AcceptedRequest['body']): number {
  for (const name of OUTPUT_CAPS) {
    const member = body.get(name)
    if (member === undefined || body.type(member) !== 'number') continue
    const cap = Math.ceil(Number(body.value(member)))
    return Math.min(MAX_OUTPUT_TOKENS, Math.max(0, cap))
  }
  return 0
}
