import type { Period } from './time-range.ts'

/** A plain string, because the page belongs to another feature. */
export const LOGS: string = '/logs'

export type LogAddress = Readonly<Record<string, string>>

export interface CallsBehind {
  readonly period: Period
  readonly filters?: Readonly<Record<string, string | undefined>>
}

export function toLogAddress({ period: { fromMs, toMs }, filters = {} }: CallsBehind): LogAddress {
  const given = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return {
    ...Object.fromEntries(given),
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  }
}
