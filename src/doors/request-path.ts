/**
 * The path of a request, without parsing its address whole: that would cost more than the rest of
 * the routing. Pure.
 */

/**
 * @param url absolute, but for a request whose `Host` is absent or unusable: then it begins with
 * its path
 */
export function pathOf(url: string): string {
  const start = hasNoHost(url) ? 0 : url.indexOf('/', url.indexOf('//') + 2)
  const query = url.indexOf('?', start)
  return query < 0 ? url.slice(start) : url.slice(start, query)
}

export function hasNoHost(url: string): boolean {
  return url.startsWith('/')
}
