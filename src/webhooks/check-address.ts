/**
 * The port to the part that decides where customers' addresses may lead. It must not know
 * how that is decided.
 */

/** A place to connect to, as the check of the address wants it connected to. */
export interface Destination {
  readonly url: string
  /** For the header `host`, where the url holds an IP address instead of the name. */
  readonly host: string | undefined
  /** The name that the certificate must have, where it is not the url's host. */
  readonly serverName: string | undefined
  /** True where no proxy is to be used, whatever the environment says. */
  readonly isDirect?: boolean
}

/** Both reject with an `AddressRefusedError` that says why. */
export interface AddressPolicy {
  /** For an address that is to be saved. */
  check(address: string): Promise<unknown>
  /** For one that is connected to now. */
  locate(address: string): Promise<Destination>
}

export type CheckAddress = AddressPolicy['check']
