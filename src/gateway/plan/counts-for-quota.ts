/**
 * Whether the platform pays for a call to a target. What the account pays for itself is no concern
 * of its quota.
 */
import type { CallCredential } from '../../core/call.ts'

const OWN_MODELS = 'owned/'

/**
 * @param target `provider/model`, or `owned/<slug>` for a model of the account's own
 * @param credential that it was asked with, or will be; null when none was, and in rows of older
 * versions
 */
export function countsForQuota(target: string | null, credential: CallCredential | null): boolean {
  return credential !== 'own' && target?.startsWith(OWN_MODELS) !== true
}
