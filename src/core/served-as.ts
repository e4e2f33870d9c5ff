/** How a vendor served a call, where that chooses its price. Knows no vendor and no price. */

/** In the vendor's words, in lower case. A member that is absent was not reported. */
export interface ServedAs {
  /** `standard`: the usual tier, whatever the vendor calls it. */
  readonly tier?: string
  readonly speed?: string
  /** `global`: no region was chosen. */
  readonly region?: string
}

/** Ways in which a request can ask for another price than the list's. */
export type OtherPrice = keyof ServedAs | 'media'

/** The values that have the list's price. */
export const USUAL: Required<ServedAs> = { tier: 'standard', speed: 'standard', region: 'global' }
