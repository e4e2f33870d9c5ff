/**
 * Names who sealed a piece of reasoning: a provider under one credential. It must not show the
 * credential.
 */
import { createHash } from 'node:crypto'
import type { Secret } from '../../core/secret.ts'

/** Enough to tell the credentials of one provider apart, and nothing to find one by. */
const FINGERPRINT_LENGTH = 8

/** No hexadecimal number, as every other is. */
const WITHOUT = 'none'

const fingerprints = new WeakMap<Secret, string>()

/** @param credential undefined: none is sent */
export function originOf(providerId: string, credential: Secret | undefined): string {
  if (credential === undefined) return `${providerId}#${WITHOUT}`
  let fingerprint = fingerprints.get(credential)
  if (fingerprint === undefined) {
    fingerprint = createHash('sha256')
      .update(credential.reveal())
      .digest('hex')
      .slice(0, FINGERPRINT_LENGTH)
    fingerprints.set(credential, fingerprint)
  }
  return `${providerId}#${fingerprint}`
}
