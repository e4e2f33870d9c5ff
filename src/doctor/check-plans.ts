/** Plans whose limits do not do what they seem to. Asks nobody. */
import type { Finding } from '../core/finding.ts'
import type { AccountId } from '../core/ids.ts'
import { createPlans, type PlansSection } from '../core/plan.ts'
import { findingsOf } from './finding.ts'

const { warn } = findingsOf('limits')

const PAIRS = [
  ['requestsPerMinute', 'accountRequestsPerMinute'],
  ['concurrentCalls', 'accountConcurrentCalls'],
] as const

/** Signing up makes an account of this kind. */
const SIGNED_UP = 'acct_of_nobody' as AccountId

/** @param isSignUpOpen whether strangers have accounts, and make as many keys as they like */
export function checkPlans(section: PlansSection | undefined, isSignUpOpen: boolean): Finding[] {
  const findings: Finding[] = []
  for (const name of Object.keys(section?.definitions ?? {})) {
    const { limits } = createPlans({ ...section, accounts: {}, default: name }).of(SIGNED_UP)
    for (const [ofKey, ofAccount] of PAIRS) {
      const [key, account] = [limits[ofKey], limits[ofAccount]]
      if (key === null || account === null || key <= account) continue
      findings.push(
        warn(
          `the plan ${name} allows each key ${key} (${ofKey}) and all keys together only ` +
            `${account} (${ofAccount}): no key ever gets its own`,
          `Raise ${ofAccount} in gatehouse.yaml, or lower ${ofKey}`,
        ),
      )
    }
  }
  const { name, limits } = createPlans(section).of(SIGNED_UP)
  const open = PAIRS.filter(
    ([ofKey, ofAccount]) => limits[ofKey] !== null && limits[ofAccount] === null,
  )
  if (isSignUpOpen && open.length > 0)
    findings.push(
      warn(
        `whoever signs up has the plan ${name}, which limits each key and not their account: ` +
          'more keys make more calls',
        `Give ${name} ${open.map(([, ofAccount]) => ofAccount).join(' and ')} in gatehouse.yaml`,
      ),
    )
  return findings
}
