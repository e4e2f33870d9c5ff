/**
 * Turns better-auth's refusals into the gateway's. Says the same whether it was the address or the
 * password.
 */
import { GatewayError, invalidRequest } from '../core/errors.ts'
import type { JoiningRefusal } from '../store/users/join-account.ts'

/** `field`: where the password that was checked stood in the request. */
export function loginProblem(error: unknown, field: 'password' | 'currentPassword'): unknown {
  if (error instanceof GatewayError) return error
  const code = codeOf(error)
  if (code === 'INVALID_EMAIL_OR_PASSWORD' || code === 'INVALID_EMAIL')
    return new GatewayError('unauthorized', 'The email address or the password is wrong.')
  if (code === 'INVALID_PASSWORD') return invalidRequest(`${field}: is wrong`, field)
  if (code === 'CREDENTIAL_ACCOUNT_NOT_FOUND')
    return new GatewayError(
      'conflict',
      'This user signs in with an identity provider and has no password.',
    )
  if (code === NOT_INVITED || code === 'UNAUTHORIZED')
    return new GatewayError('unauthorized', 'The email address or the password is wrong.')
  return error
}

export function refusalOfJoining(refusal: JoiningRefusal): GatewayError {
  switch (refusal) {
    case 'email-taken':
      return new GatewayError('conflict', 'There is a user with this email address already.')
    case 'not-first':
      return new GatewayError(
        'forbidden',
        'The account of this key has an owner already: ask for an invitation.',
      )
    case 'not-invited':
      return new GatewayError(
        'forbidden',
        'This needs an invitation to this email address that has neither been used nor run out.',
      )
  }
}

const NOT_INVITED = 'not_invited'

/** For better-auth's own flows, which turn it into a redirect that carries the code. */
export async function notInvited(): Promise<Error> {
  const { APIError } = await import('better-auth/api')
  return new APIError('FORBIDDEN', { code: NOT_INVITED, message: 'There is no open invitation.' })
}

/** The same for an account that has as many members as it may. */
export async function accountFull({ message }: GatewayError): Promise<Error> {
  const { APIError } = await import('better-auth/api')
  return new APIError('CONFLICT', { code: 'account_full', message })
}

export function readCookies(headers: Headers): readonly string[] {
  return headers.getSetCookie()
}

function codeOf(error: unknown): string | undefined {
  const body = error instanceof Error && 'body' in error ? error.body : undefined
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
  return typeof code === 'string' ? code : undefined
}
