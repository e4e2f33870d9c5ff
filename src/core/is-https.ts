/** Says whether browsers reach an address by https. Pure. */

/** @param origin undefined: nobody said so */
export function isHttps(origin: string | undefined): boolean {
  return origin?.startsWith('https:') === true
}
