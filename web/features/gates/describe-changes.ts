/** Describes a change of a gate, in a few words for each field. Pure. */
import { formatDuration } from '../../format/figures.ts'
import type { Gate, GateSettings } from './gate-draft.ts'

const LABELS: Readonly<Record<keyof GateSettings, string>> = {
  displayName: 'name',
  description: 'description',
  targets: 'targets',
  strategy: 'strategy',
  hedgeAfterMs: 'hedging',
  defaults: 'defaults',
  overrides: 'overrides',
  timeoutMs: 'time limit',
  maxRetries: 'retries',
}

export function nameChanges(changes: Partial<GateSettings>): string {
  return Object.keys(changes)
    .map((field) => LABELS[field as keyof GateSettings])
    .join(', ')
}

/** The gateway's answer, so that the message names what is in effect. */
export function describeChanges(before: Gate, after: Gate): readonly string[] {
  const told: string[] = []
  const note = (field: keyof GateSettings, from: string, to: string) => {
    if (from !== to) told.push(`${LABELS[field]}: ${from} → ${to}`)
  }
  note('displayName', before.displayName, after.displayName)
  if (before.description !== after.description) told.push('description')
  const [from, to] = [before, after].map(({ targets }) => targets.map(toTargetText).join(', '))
  if (from !== to) told.push(`targets: ${to}`)
  note('strategy', before.strategy, after.strategy)
  note('hedgeAfterMs', toTime(before.hedgeAfterMs, 'off'), toTime(after.hedgeAfterMs, 'off'))
  if (JSON.stringify(before.defaults) !== JSON.stringify(after.defaults)) told.push('defaults')
  note('overrides', before.overrides, after.overrides)
  note(
    'timeoutMs',
    toTime(before.timeoutMs, "the gateway's"),
    toTime(after.timeoutMs, "the gateway's"),
  )
  note('maxRetries', String(before.maxRetries), String(after.maxRetries))
  return told
}

function toTargetText({ model, weight }: Gate['targets'][number]): string {
  return weight === undefined ? model : `${model} (${weight})`
}

function toTime(milliseconds: number | null, none: string): string {
  return milliseconds === null ? none : formatDuration(milliseconds)
}
