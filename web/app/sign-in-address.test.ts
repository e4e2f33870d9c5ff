import { expect, test } from 'bun:test'
import { toSignInSearch } from './sign-in-address.ts'

test('a page that needs a session is reopened unchanged after the sign-in', () => {
  const path = '/dashboard/logs?status=429&key=%22k%22#x'
  expect(toSignInSearch(path)).toEqual({ returnTo: path })
})

test('a refusal by an identity provider is shown at the sign-in, and is not part of the return address', () => {
  expect(
    toSignInSearch('/dashboard/logs?status=429&error=not_invited&error_description=There+is+none.'),
  ).toEqual({ returnTo: '/dashboard/logs?status=429', error: 'not_invited' })
})
