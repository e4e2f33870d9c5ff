/** Whether a whole answer is a chat completion. Serves every dialect shaped like it. Pure. */

/** Some routers put an error beside an empty list. */
export function isChatAnswer({ choices, error }: Readonly<Record<string, unknown>>): boolean {
  return (
    Array.isArray(choices) && (choices.length > 0 || typeof error !== 'object' || error === null)
  )
}
