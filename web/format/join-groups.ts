/** Numbers as people type them, with something between groups of three digits. Knows no page. */

/**
 * Joins groups of three only: elsewhere a comma is somebody's decimal point, and without it the
 * number would be another one.
 * @returns the text as it is where it has no such groups
 */
export function joinGroups(text: string): string {
  return /^\d{1,3}(?:[\s,_’']\d{3})+(?:\.\d*)?$/.test(text)
    ? text.replaceAll(/[\s,_’']/g, '')
    : text
}
