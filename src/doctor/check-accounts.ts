/** Checks the owner of the first account, who decides what calls may name at providers. */
import type { Settings } from '../config/settings.ts'
import type { Finding } from '../core/finding.ts'
import { type AccountId, DEFAULT_ACCOUNT } from '../core/ids.ts'
import { createPlans, type PlansSection } from '../core/plan.ts'
import { catalog } from '../providers/catalog.ts'
import { addressVariablesOf } from '../providers/define.ts'
import { findingsOf } from './finding.ts'

const ofAccounts = findingsOf('accounts')
const REACH = "files and the like in the platform's accounts at providers"

export function checkAccounts({ defaultAccount }: Pick<Settings, 'defaultAccount'>): Finding[] {
  return [
    ofAccounts.ok(
      defaultAccount === 'operator'
        ? `${DEFAULT_ACCOUNT} is the operator's: its calls may name ${REACH}. ` +
            'If it is a customer, set GATEHOUSE_DEFAULT_ACCOUNT=tenant'
        : `${DEFAULT_ACCOUNT} is a customer's: no account's calls may name ${REACH} ` +
            '(GATEHOUSE_DEFAULT_ACCOUNT=tenant)',
    ),
  ]
}

export interface ExaminedGate {
  readonly accountId: string
  readonly id: string
  readonly targets: readonly string[]
}

interface KnownProviders {
  /** Provider id → whether the gateway has an address and a key for the provider. */
  readonly configured: ReadonlyMap<string, boolean>
  readonly withoutAddress: ReadonlySet<string>
  readonly ownKeys: ReadonlySet<string>
}

const ofGates = findingsOf('gates')
const OWNED = 'owned'

export function checkGates(
  gates: readonly ExaminedGate[],
  { configured, withoutAddress, ownKeys }: KnownProviders,
): Finding[] {
  const findings = gates.flatMap((gate) => {
    const states = gate.targets.map((target) => {
      const [provider = ''] = target.split('/')
      if (provider === OWNED) return { target, provider, state: 'ready' as const }
      const isConfigured = configured.get(provider)
      if (isConfigured === undefined) return { target, provider, state: 'unknown' as const }
      if (withoutAddress.has(provider)) return { target, provider, state: 'unlocated' as const }
      const isReady = isConfigured || ownKeys.has(`${gate.accountId}/${provider}`)
      return { target, provider, state: isReady ? ('ready' as const) : ('bare' as const) }
    })
    const isDead = states.every(({ state }) => state !== 'ready')
    return states.flatMap(({ target, provider, state }): Finding[] => {
      if (state === 'ready') return []
      const { what, cure } = PROBLEMS[state](provider)
      const so = isDead ? ', and no other target can answer' : ''
      return [ofGates[isDead ? 'fail' : 'warn'](`${gate.id}: ${target} ${what}${so}`, cure)]
    })
  })
  if (findings.length > 0) return findings
  return [ofGates.ok(`${gates.length} gates, every target has what it needs`)]
}

const PROBLEMS = {
  unknown: (provider: string) => ({
    what: 'names a provider that is not known',
    cure: `Change the gate, or put ${provider} back into gatehouse.yaml`,
  }),
  unlocated: (provider: string) => ({
    what: 'has no address for its provider',
    cure: `Set ${addressVariables(provider)} in the server's environment, and restart it`,
  }),
  bare: (provider: string) => ({
    what: 'has no key for its provider',
    cure:
      `Give the server ${provider}'s key (gatehouse providers list), or: gatehouse ` +
      `provider-keys set ${provider}`,
  }),
}

function addressVariables(id: string): string {
  return addressVariablesOf(catalog.find((provider) => provider.id === id) ?? { id }).join(' and ')
}

const ofLimits = findingsOf('limits')

const PAIRS = [
  ['requestsPerMinute', 'accountRequestsPerMinute'],
  ['concurrentCalls', 'accountConcurrentCalls'],
] as const

/** An account like those created by sign-up. */
const SIGNED_UP = 'acct_of_nobody' as AccountId

/** @param isSignUpOpen whether strangers may have accounts with any number of keys */
export function checkPlans(section: PlansSection | undefined, isSignUpOpen: boolean): Finding[] {
  const findings: Finding[] = []
  for (const name of Object.keys(section?.definitions ?? {})) {
    const { limits } = createPlans({ ...section, accounts: {}, default: name }).of(SIGNED_UP)
    for (const [ofKey, ofAccount] of PAIRS) {
      const [key, account] = [limits[ofKey], limits[ofAccount]]
      if (key === null || account === null || key <= account) continue
      findings.push(
        ofLimits.warn(
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
      ofLimits.warn(
        `new accounts have the plan ${name}, which limits each key and not the account: ` +
          'more keys make more calls',
        `Give ${name} ${open.map(([, ofAccount]) => ofAccount).join(' and ')} in gatehouse.yaml`,
      ),
    )
  return findings
}

interface ExaminedBudget {
  readonly id: string
  readonly name: string
  readonly isInMoney: boolean
  readonly unpriced: string
}

export function checkUnpricedBudgets(budgets: readonly ExaminedBudget[]): Finding[] {
  return budgets
    .filter(({ isInMoney, unpriced }) => isInMoney && unpriced === 'allow')
    .map(({ id, name }) =>
      ofLimits.warn(
        `the budget ${name} is in US dollars and allows models whose price is not known: their ` +
          'calls pass it uncounted',
        `Count them at an estimate: gatehouse budgets update ${id} --unpriced estimate`,
      ),
    )
}

export function checkUnpricedPlans(section: PlansSection | undefined): Finding[] {
  return Object.entries(section?.definitions ?? {})
    .filter(([, { unpriced }]) => unpriced === 'allow')
    .map(([name]) =>
      ofLimits.warn(
        `the plan ${name} allows models whose price is not known: their calls pass ` +
          'monthlySpendUsd uncounted',
        'Count them at an estimate: write unpriced: estimate in gatehouse.yaml',
      ),
    )
}
