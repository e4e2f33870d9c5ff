import { formatWhole } from '../../format/figures.ts'
import type { AgentCall } from './agent-tree.ts'

/** A bar for the input tokens of each call, in the order of the calls. */
export function ContextGrowth({ calls }: { readonly calls: readonly AgentCall[] }) {
  const reported = calls.flatMap(({ id, usage }) => (usage === null ? [] : [{ id, usage }]))
  const [first, last] = [reported[0]?.usage.inputTokens, reported.at(-1)?.usage.inputTokens]
  if (first === undefined || last === undefined)
    return (
      <p className="px-5 py-8 text-center text-[13px] text-ink-faint">
        The providers reported no tokens
      </p>
    )
  const largest = Math.max(1, ...reported.map(({ usage }) => usage.inputTokens))
  return (
    <>
      <p aria-hidden className="px-5 pt-3 text-xs text-ink-faint tabular-nums">
        {formatWhole(largest)} at most
      </p>
      <div
        role="img"
        aria-label={`Input tokens of ${reported.length} calls: ${formatWhole(first)} in the first, ${formatWhole(last)} in the last, ${formatWhole(largest)} at most`}
        className="flex h-32 items-end gap-px overflow-hidden px-5 pt-1 pb-4"
      >
        {reported.map(({ id, usage }) => (
          <span
            key={id}
            title={`${formatWhole(usage.inputTokens)} tokens, ${formatWhole(usage.cachedInputTokens)} of them cached`}
            style={{ height: `${Math.max(2, (usage.inputTokens / largest) * 100)}%` }}
            className="flex max-w-6 min-w-0 flex-1 flex-col justify-end bg-accent/40"
          >
            <span
              className="bg-accent"
              style={{
                height: `${Math.min(100, (usage.cachedInputTokens / Math.max(1, usage.inputTokens)) * 100)}%`,
              }}
            />
          </span>
        ))}
      </div>
    </>
  )
}
