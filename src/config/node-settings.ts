/**
 * What several nodes on one Postgres promise each other, from the environment. Knows nothing of how
 * it is kept.
 */
import type { StoreOutagePolicy } from '../core/store-outage.ts'
import type { Environment } from './environment.ts'
import { readSetting } from './read-setting.ts'

export interface NodeSettings {
  readonly leaseMs: number
  readonly storeOutage: StoreOutagePolicy
}

/** @throws SettingsError naming the variable that is wrong */
export function readNodeSettings(environment: Environment): NodeSettings {
  const choice = readSetting(environment, 'GATEHOUSE_STORE_OUTAGE')
  const graceMs = readSetting(environment, 'GATEHOUSE_STORE_GRACE_MS')
  return {
    leaseMs: readSetting(environment, 'GATEHOUSE_LEASE_MS'),
    storeOutage: { choice, graceMs: choice === 'closed' ? 0 : graceMs },
  }
}
