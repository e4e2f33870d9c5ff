/** Whose an address is: who counts by address counts by this. Knows nothing of what is counted. */

/** An IPv6 customer has a /64 at the least: its addresses are one. */
export function toNetwork(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  if (tail !== undefined) while (groups.length < 4) groups.push('0')
  return groups.slice(0, 4).join(':')
}
