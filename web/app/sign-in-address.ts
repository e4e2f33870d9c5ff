/**
 * How a page that wants a session asks for one: where to go on afterwards, and what an identity
 * provider refused. Knows no page.
 */

export interface SignInSearch {
  readonly returnTo: string
  readonly error?: string
}

/**
 * @param path of the dashboard, with its search: a refusal comes back to where the sign-in was to
 * end
 */
export function toSignInSearch(path: string): SignInSearch {
  const url = new URL(path, 'http://dashboard')
  const error = url.searchParams.get('error')
  if (error === null) return { returnTo: path }
  for (const name of ['error', 'error_description']) url.searchParams.delete(name)
  return { returnTo: url.pathname + url.search + url.hash, error }
}
