/** Turns the choices of the analytics into filters of the log: for the calls behind a figure. */
import type { Choices, GroupName } from './choices.ts'

/** By what the log can pick a group out. */
const FILTER_OF: Readonly<Partial<Record<GroupName, string>>> = {
  gate: 'gate',
  target: 'target',
  key: 'key',
  status: 'status',
}

/** @param group null or undefined: none that the log can pick out */
export function toLogFilters(
  { by, show, filters }: Pick<Choices, 'by' | 'show' | 'filters'>,
  group: string | null | undefined,
): Readonly<Record<string, string | undefined>> {
  const filter = FILTER_OF[by]
  return {
    ...filters,
    ...(filter === undefined || typeof group !== 'string' ? {} : { [filter]: group }),
    ...(show === 'errors' ? { outcome: 'failed' } : {}),
  }
}
