/**
 * The settings that must be the same on all nodes of one store, in a form to store, compare and
 * show, without secrets.
 */
import { createHash } from 'node:crypto'
import type { PlansSection } from '../core/plan.ts'
import { showSetting } from './read-setting.ts'
import { SETTINGS, type SettingName } from './setting-table.ts'
import type { Environment, Setting } from './setting-type.ts'

/** By variable name; nodes of other versions may have other names. */
export type SharedSettings = Readonly<Record<string, string>>

const PLANS = 'plans'

const NAMES = Object.entries<Setting>(SETTINGS)
  .filter(([, { isShared }]) => isShared)
  .map(([name]) => name as SettingName)

export function showSharedSettings(
  environment: Environment,
  plans: PlansSection | undefined,
): SharedSettings {
  return {
    ...Object.fromEntries(NAMES.map((name) => [name, showSetting(environment, name)])),
    [PLANS]: plans === undefined ? 'built in' : signOf(plans),
  }
}

function signOf(plans: PlansSection): string {
  return createHash('sha256').update(JSON.stringify(plans)).digest('hex').slice(0, 8)
}

export interface Difference {
  readonly setting: string
  readonly here: string
  readonly there: string
}

export function compareSharedSettings(here: SharedSettings, there: SharedSettings): Difference[] {
  return Object.entries(here).flatMap(([setting, value]) => {
    const other = there[setting]
    return other === undefined || other === value ? [] : [{ setting, here: value, there: other }]
  })
}
