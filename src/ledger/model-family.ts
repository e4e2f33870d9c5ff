/** The family of a model by its name, for estimates of prices that are not known. */

/** Words that do not distinguish prices. */
const NEUTRAL = new Set(['v', 'latest', 'preview', 'exp', 'experimental', 'beta'])

/**
 * The words of a name without versions and dates: `gpt-6.2-sol` and `gpt-6-sol` are one family.
 * Empty for a name without words.
 */
export function familyOf(model: string): string {
  return model
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '' && !NEUTRAL.has(word))
    .join('-')
}
