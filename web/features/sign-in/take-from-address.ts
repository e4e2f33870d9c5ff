/**
 * Secrets that a link carries behind its `#`: never sent to a server, and taken out of the address
 * bar and the history at once.
 */

export function takeFromAddress(name: string): string | undefined {
  const value = new URLSearchParams(location.hash.slice(1)).get(name)
  if (value === null) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  return value
}
