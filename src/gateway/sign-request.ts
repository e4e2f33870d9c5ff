/** Signs a request to a target whose vendor takes signatures, when its credential is one that signs. Knows no dialect. */
import type { Target } from './plan-targets.ts'

/**
 * Puts a signature where the key was. A credential that does not sign is a key, and stays where it is.
 * @param body what will be sent, to the byte
 */
export async function signRequest(
  target: Target,
  headers: Record<string, string>,
  body: Uint8Array,
): Promise<void> {
  if (target.signing === undefined) return
  // Loaded with the first such request: most gateways sign none.
  const { awsRegionOf, parseAwsCredential, signAws } = await import('../upstream/sign-aws.ts')
  const credential = parseAwsCredential(target.credential.reveal())
  if (credential === undefined) return
  const { url, signing } = target
  const signed = await signAws({
    url,
    method: 'POST',
    headers: { 'content-type': headers['content-type'] ?? '' },
    body,
    region: awsRegionOf(url),
    service: signing.service,
    credential,
    now: new Date(),
  })
  Object.assign(headers, signed)
}
