/**
 * Loads the whole page again after a sign-in, so that nothing of the previous user stays in memory.
 */

const START = '/dashboard'

/**
 * @param returnTo a path of the dashboard; anything else leads to the start, never to another site
 */
export function enter(returnTo: string | undefined): void {
  location.assign(ownPath(returnTo) ?? START)
}

export function ownPath(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    const url = new URL(path, location.origin)
    const isOwn = url.origin === location.origin && /^\/dashboard(?:\/|$)/.test(url.pathname)
    return isOwn ? url.pathname + url.search + url.hash : undefined
  } catch {
    return undefined
  }
}
