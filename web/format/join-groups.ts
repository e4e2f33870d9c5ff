/** Parses numbers as people type them, with separators between groups of three digits. */

/**
 * Joins groups of three digits only, because a comma may be a decimal point.
 * @returns the text unchanged without such groups
 */
export function joinGroups(text: string): string {
  return /^\d{1,3}(?:[\s,_’']\d{3})+(?:\.\d*)?$/.test(text)
    ? text.replaceAll(/[\s,_’']/g, '')
    : text
}
