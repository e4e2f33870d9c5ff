/**
 * Parses numbers as people type them, with separators between groups of three digits. Knows no
 * page.
 */

/**
 * Joins groups of three only, because a comma may be a decimal point, and removing that would
 * change the number.
 * @returns the text unchanged when it has no such groups
 */
export function joinGroups(text: string): string {
  return /^\d{1,3}(?:[\s,_’']\d{3})+(?:\.\d*)?$/.test(text)
    ? text.replaceAll(/[\s,_’']/g, '')
    : text
}
