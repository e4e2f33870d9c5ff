/**
 * Texts and schemas for the sandbox's answers; each names the sandbox. Knows no dialect.
 */

/** The answer to `json_object`. */
export const JSON_OBJECT = {
  type: 'object',
  properties: { sandbox: { const: true }, echo: { type: 'string' } },
} as const

const WORDS = ['sandbox', 'echo', 'gate', 'relay', 'stream', 'token', 'ledger', 'upstream'] as const
const MAX_WORDS = 200_000

/** "repeat 500 words" anywhere in a prompt asks for that many words; null when it does not. */
export function repeatWords(prompt: string): string | null {
  const asked = /\brepeat (\d{1,9}) words?\b/i.exec(prompt)
  if (!asked) return null
  const length = Math.min(Number(asked[1]), MAX_WORDS)
  return Array.from({ length }, (_, index) => WORDS[index % WORDS.length]).join(' ')
}

/**
 * A reasoning model shows these thoughts; the seed tells the thoughts of two requests apart.
 */
export function composeThoughts(seed: string): string {
  return `Sandbox reasoning: there is nothing to think about. ${seed.slice(0, 16)}`
}

/** The middle of a FIM request: a comment that shows which ends it saw. */
export function composeMiddle(before: string, after: string): string {
  const tail = before.trimEnd().split('\n').at(-1)?.trim().slice(-40) ?? ''
  const start = after.trimStart().split('\n')[0]?.trim().slice(0, 40) ?? ''
  return `/* Sandbox middle: after ${JSON.stringify(tail)}, before ${JSON.stringify(start)} */`
}
