import { expect, test } from 'bun:test'
import { toSignInSearch } from './sign-in-address.ts'

test('a page that wants a session is come back to as it was', () => {
  const path = '/dashboard/logs?status=429&key=%22k%22#x'
  expect(toSignInSearch(path)).toEqual({ returnTo: path })
})

test('what an identity provider refused is told where one signs in, and is no part of the way back', () => {
  expect(
    toSignInSearch('/dashboard/logs?status=429&error=not_invited&error_description=There+is+none.'),
  ).toEqual({ returnTo: '/dashboard/logs?status=429', error: 'not_invited' })
})
