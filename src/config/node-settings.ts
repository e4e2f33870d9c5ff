/** What several nodes on one Postgres promise each other, from the environment. Knows nothing of how it is kept. */
import {
  STORE_OUTAGE_CHOICES,
  type StoreOutageChoice,
  type StoreOutagePolicy,
} from '../core/store-outage.ts'
import { type Environment, SettingsError } from './environment.ts'

export const NODE_VARIABLES = {
  GATEHOUSE_LEASE_MS:
    'how long a node on Postgres may serve from memory without having asked for changes; the same on all nodes (3000)',
  GATEHOUSE_STORE_OUTAGE:
    'calls while Postgres is away: grace (while no change can be missed), closed (refused) or open (served all the same) (grace)',
  GATEHOUSE_STORE_GRACE_MS:
    'longest time that calls are served without Postgres (600000 with REDIS_URL, 60000 without)',
} as const

export interface NodeSettings {
  readonly leaseMs: number
  readonly storeOutage: StoreOutagePolicy
}

const DAY_MS = 86_400_000

/** @throws SettingsError naming the variable that is wrong */
export function readNodeSettings(environment: Environment, hasRedis: boolean): NodeSettings {
  const choice = readChoice(environment.GATEHOUSE_STORE_OUTAGE)
  const graceMs =
    readMilliseconds(environment, 'GATEHOUSE_STORE_GRACE_MS', 0) ?? (hasRedis ? 600_000 : 60_000)
  return {
    // Shorter than the time of an answer, nobody could keep one.
    leaseMs: readMilliseconds(environment, 'GATEHOUSE_LEASE_MS', 300) ?? 3_000,
    storeOutage: { choice, graceMs: choice === 'closed' ? 0 : graceMs },
  }
}

function readChoice(text: string | undefined): StoreOutageChoice {
  if (text === undefined || text === '') return STORE_OUTAGE_CHOICES[0]
  const choice = STORE_OUTAGE_CHOICES.find((candidate) => candidate === text)
  if (choice === undefined)
    throw new SettingsError(
      `GATEHOUSE_STORE_OUTAGE must be one of ${STORE_OUTAGE_CHOICES.join(', ')}, but is '${text}'.`,
    )
  return choice
}

function readMilliseconds(
  environment: Environment,
  name: keyof typeof NODE_VARIABLES,
  min: number,
): number | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > DAY_MS)
    throw new SettingsError(
      `${name} must be a whole number from ${min} to ${DAY_MS}, but is '${text}'.`,
    )
  return value
}
