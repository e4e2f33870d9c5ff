/**
 * How groups are painted: gates, targets and keys as everywhere in this browser; classes of status
 * and credentials by what they mean.
 */
import { NOTHING_PAINT, type Paint, paintAt } from '../../ui/charts/palette.ts'
import { usePaints } from '../../ui/charts/use-paints.ts'
import type { GroupName } from './choices.ts'

/** Each has a colour and a pattern that no other of its kind has. */
const FIXED: Readonly<Record<string, Paint>> = {
  '2xx': paintAt(0),
  '3xx': paintAt(5),
  '4xx': paintAt(2),
  '5xx': paintAt(3),
  own: paintAt(0),
  platform: paintAt(1),
}

export function useGroupPaints(
  by: GroupName,
  groups: readonly (string | null)[],
): (group: string | null) => Paint {
  const isFixed = by === 'status' || by === 'credential'
  const named = groups.filter((group) => group !== null)
  const paints = usePaints(by, isFixed ? [] : named)
  return (group) =>
    (group === null ? undefined : isFixed ? FIXED[group] : paints.get(group)) ?? NOTHING_PAINT
}
