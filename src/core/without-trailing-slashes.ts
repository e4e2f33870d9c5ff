/**
 * Takes the slashes off the end of an address. Must not know whose it is: a regular expression
 * would try each slash of a long row anew.
 */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length
  while (end > 0 && address[end - 1] === '/') end--
  return address.slice(0, end)
}
