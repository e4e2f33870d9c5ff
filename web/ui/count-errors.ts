interface FailedCall {
  readonly status: number
  readonly errorKind: string | null
  readonly attempts: number
}

export interface ErrorCount {
  readonly status: number
  readonly errorKind: string | null
  readonly calls: number
}

/** The most frequent first. Calls refused before an attempt are left out: they have exact counts. */
export function countErrors(failed: readonly FailedCall[]): readonly ErrorCount[] {
  const counts = new Map<string, ErrorCount>()
  for (const { status, errorKind, attempts } of failed) {
    if (attempts === 0) continue
    const kind = `${status} ${errorKind}`
    counts.set(kind, { status, errorKind, calls: (counts.get(kind)?.calls ?? 0) + 1 })
  }
  return [...counts.values()].toSorted((one, other) => other.calls - one.calls)
}
