/**
 * Validates settings that only their users can check, so that a start reports all errors at once.
 */
import type { SettingCheck } from '../config/name-all-faults.ts'
import { readGiven } from '../config/read-setting.ts'
import { SettingsError } from '../config/setting-type.ts'
import type { Settings } from '../config/settings.ts'
import { mayBeForwarded } from '../net/headers.ts'
import { Proxies } from '../net/proxies.ts'
import { TrustedHosts } from '../net/trusted-hosts.ts'

export const USERS_CHECKS: readonly SettingCheck[] = [
  (environment) => new TrustedHosts(readGiven(environment, 'GATEHOUSE_TRUSTED_HOSTS') ?? []),
  (environment) => new Proxies(environment),
  (environment) =>
    refuseForwarding({
      request: readGiven(environment, 'GATEHOUSE_FORWARD_REQUEST_HEADERS') ?? [],
      answer: readGiven(environment, 'GATEHOUSE_FORWARD_ANSWER_HEADERS') ?? [],
    }),
]

/**
 * @throws SettingsError naming a header that is never forwarded, because ignoring the header
 * silently would be worse
 */
export function refuseForwarding({ request, answer }: Settings['forwardedHeaders']): void {
  const refused = [...request, ...answer]
    .map((name) => name.toLowerCase())
    .find((name) => !mayBeForwarded(name.replace('*', '')))
  if (refused !== undefined)
    throw new SettingsError(
      `GATEHOUSE_FORWARD_REQUEST_HEADERS and …_ANSWER_HEADERS must not contain '${refused}': it ` +
        'carries a credential, names an account or belongs to one connection.',
    )
}
