/** The owner of the first account, which decides what its calls may name at providers. */
import type { Settings } from '../config/settings.ts'
import type { Finding } from '../core/finding.ts'
import { DEFAULT_ACCOUNT } from '../core/ids.ts'
import { findingsOf } from './finding.ts'

const { ok } = findingsOf('accounts')
const REACH = "files and the like in the platform's accounts at providers"

export function checkAccounts({ defaultAccount }: Pick<Settings, 'defaultAccount'>): Finding[] {
  return [
    ok(
      defaultAccount === 'operator'
        ? `${DEFAULT_ACCOUNT} is the operator's: its calls may name ${REACH}. ` +
            'If it is a customer, set GATEHOUSE_DEFAULT_ACCOUNT=tenant'
        : `${DEFAULT_ACCOUNT} is a customer's: no account's calls may name ${REACH} ` +
            '(GATEHOUSE_DEFAULT_ACCOUNT=tenant)',
    ),
  ]
}
