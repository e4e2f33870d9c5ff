/** When something was last used, where clocks differ. Knows neither keys nor where it is kept. */

/** No node reports a use so late: one that is further ahead was dated by a clock that was wrong. */
export const MOST_AHEAD_MS = 24 * 3_600_000

/** Whether a use is to be kept in place of what is known; milliseconds since the Unix epoch. */
export function isLastUse(at: number, known: number | null): boolean {
  return known === null || known < at || known - at > MOST_AHEAD_MS
}
