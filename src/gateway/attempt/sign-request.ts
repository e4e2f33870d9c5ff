/** Replaces a credential with the signature or token that the provider expects. */

import type { EditedBytes } from '../../core/edited-bytes.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Secret } from '../../core/secret.ts'
import type { AddressGuard } from '../../net/address-guard.ts'
import type { LeaveSignal } from '../../net/messages.ts'
import { waitWithin } from '../../net/wait-within.ts'
import type { Target } from '../plan/compile-target.ts'

export interface UnsignedRequest {
  /** Modified in place: the signature or token replaces the key. */
  readonly headers: Record<string, string>
  readonly body: EditedBytes
  readonly signal: LeaveSignal
  readonly withinMs: number
  readonly locate: AddressGuard['locate']
}

/**
 * Leaves a plain key unchanged.
 * @returns the secret parts of the sent credential
 * @throws GatewayError `provider_auth_failed` or `upstream_error`; UpstreamFailure `cancelled` or
 * `total_timeout`
 */
export async function signRequest(
  target: Target,
  request: UnsignedRequest,
): Promise<readonly string[]> {
  const { credential, signing } = target
  if (credential === undefined) return []
  switch (signing?.type) {
    case 'aws':
      return await signForAws({ target, credential }, signing.service, request)
    case 'google':
      return await putGoogleToken({ target, credential }, signing.scope, request)
    case undefined:
      return [credential.reveal()]
  }
}

interface Signer {
  readonly target: Target
  readonly credential: Secret
}

async function signForAws(
  { target, credential: given }: Signer,
  service: string,
  request: UnsignedRequest,
): Promise<string[]> {
  // Imported on first use, because most gateways sign no requests.
  const { awsRegionOf, parseAwsCredential, signAws } = await import('../../net/sign-aws.ts')
  const key = given.reveal()
  const credential = parseAwsCredential(key)
  if (credential === undefined) return [key]
  const { headers, body } = request
  const signed = await signAws({
    url: target.url,
    method: 'POST',
    headers: { 'content-type': headers['content-type'] ?? '' },
    body: body.toBytes(),
    region: awsRegionOf(target.url),
    service,
    credential,
    now: new Date(),
  })
  Object.assign(headers, signed)
  return [key, ...key.split(':')]
}

async function putGoogleToken(
  { target, credential }: Signer,
  scope: string,
  request: UnsignedRequest,
): Promise<string[]> {
  const { GoogleTokenError, googleTokenOf, isServiceAccount } = await import(
    '../../net/google-token.ts'
  )
  const { headers, signal, withinMs } = request
  const locate = target.owner === 'account' ? request.locate : undefined
  const key = credential.reveal()
  if (!isServiceAccount(key)) return [key]
  try {
    const token = await waitWithin(googleTokenOf(credential, scope, locate), { signal, withinMs })
    headers.authorization = `Bearer ${token}`
    return [token]
  } catch (thrown) {
    if (!(thrown instanceof GoogleTokenError)) throw thrown
    throw new GatewayError(
      thrown.isRefusal ? 'provider_auth_failed' : 'upstream_error',
      `${thrown.message} (${target.name})`,
      thrown.isRefusal ? {} : { code: 'token_endpoint_failed' },
    )
  }
}
