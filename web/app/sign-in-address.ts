export interface SignInSearch {
  readonly returnTo: string
  readonly error?: string
}

export function toSignInSearch(path: string): SignInSearch {
  const url = new URL(path, 'http://dashboard')
  const error = url.searchParams.get('error')
  if (error === null) return { returnTo: path }
  for (const name of ['error', 'error_description']) url.searchParams.delete(name)
  return { returnTo: url.pathname + url.search + url.hash, error }
}
