/** Gates whose targets cannot answer, because nobody has given what they need. Asks nobody. */
import type { Finding } from '../core/finding.ts'
import { catalog } from '../providers/catalog.ts'
import { addressVariablesOf } from '../providers/define.ts'
import { findingsOf } from './finding.ts'

export interface ExaminedGate {
  readonly accountId: string
  readonly id: string
  /** `provider/model` */
  readonly targets: readonly string[]
}

export interface KnownProviders {
  /** Provider id → whether the gateway has an address and a key for it. */
  readonly configured: ReadonlyMap<string, boolean>
  /** Ids of providers whose address nobody has given: no key reaches them. */
  readonly withoutAddress: ReadonlySet<string>
  /** `account/provider` of every key of an account's own that is active. */
  readonly ownKeys: ReadonlySet<string>
}

const { ok, warn, fail } = findingsOf('gates')
/** Targets of the account's own models, which the server keeps whole itself. */
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
      return [(isDead ? fail : warn)(`${gate.id}: ${target} ${what}${so}`, cure)]
    })
  })
  if (findings.length > 0) return findings
  return [ok(`${gates.length} gates, every target has what it needs`)]
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
