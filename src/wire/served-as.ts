/** Reads how a vendor served a call from the words of each dialect. Must not know any price. */
import { type ServedAs, USUAL } from '../core/cost.ts'

/** The usual tier's names: of the vendors, and of the values that requests ask for. */
export const USUAL_TIERS: ReadonlySet<string> = new Set([
  'default',
  'standard',
  'standard_only',
  'on_demand',
])
/** Repeats what was asked for and does not say which tier it was. */
const NO_TIERS: ReadonlySet<string> = new Set([
  '',
  'auto',
  'unspecified',
  'traffic_type_unspecified',
])
/** Models that cannot be asked for a region report `not_available`. */
const USUAL_REGIONS: ReadonlySet<string> = new Set(['global', 'not_available'])
/** Tiers stand in a cost's source, so they are names. */
const NAME = /^[a-z][a-z0-9_.-]{0,31}$/

export function readTier(word: unknown): string | undefined {
  const said = lowerCase(word)
  if (said === undefined || NO_TIERS.has(said)) return undefined
  if (USUAL_TIERS.has(said)) return USUAL.tier
  // `ON_DEMAND_PRIORITY` (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/priority-paygo).
  return toName(said.replace(/^on_demand_/, ''))
}

export function readSpeed(word: unknown): string | undefined {
  const said = lowerCase(word)
  return said === undefined || said === '' ? undefined : toName(said)
}

export function readRegion(word: unknown): string | undefined {
  const said = lowerCase(word)
  if (said === undefined || said === '') return undefined
  return USUAL_REGIONS.has(said) ? USUAL.region : toName(said)
}

/** @returns undefined where nothing was reported */
export function servedAs(
  tier: string | undefined,
  speed?: string | undefined,
  region?: string | undefined,
): ServedAs | undefined {
  if (tier === undefined && speed === undefined && region === undefined) return undefined
  return {
    ...(tier === undefined ? {} : { tier }),
    ...(speed === undefined ? {} : { speed }),
    ...(region === undefined ? {} : { region }),
  }
}

function lowerCase(word: unknown): string | undefined {
  return typeof word === 'string' ? word.toLowerCase() : undefined
}

/** A word that is no name is reported all the same: the price is not the list's. */
function toName(said: string): string {
  return NAME.test(said) ? said : 'other'
}
