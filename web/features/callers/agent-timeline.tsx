import { formatCount, formatDuration, formatShare, formatUsd } from '../../format/figures.ts'
import { readErrors } from '../../format/usage-measures.ts'
import { PageLink } from '../../ui/links.tsx'
import { DayTime } from '../../ui/moment.tsx'
import { type Agent, type AgentCall, type AgentNode, toAgentTree } from './agent-tree.ts'

export function AgentTimeline({
  agents,
  calls,
}: {
  readonly agents: readonly Agent[]
  readonly calls: readonly AgentCall[]
}) {
  return (
    <div className="overflow-x-auto py-3">
      {toAgentTree(agents, calls).map((node) => (
        <AgentCalls key={node.agent.agent} node={node} />
      ))}
    </div>
  )
}

function AgentCalls({ node: { agent, steps } }: { readonly node: AgentNode }) {
  const { errors } = readErrors(agent)
  const name = agent.agent === null ? 'Main agent' : `Subagent ${agent.agent.slice(0, 6)}`
  return (
    <section aria-label={name} className="min-w-72 px-5 py-1.5">
      <h3 className="flex flex-wrap items-baseline justify-between gap-x-4 text-[13px] font-medium text-ink">
        <span title={agent.agent ?? undefined}>{name}</span>
        <span className="text-xs font-normal text-ink-faint tabular-nums">
          {agent.calls} {agent.calls === 1 ? 'call' : 'calls'}
          {errors > 0 && `, ${errors} failed`}, {formatUsd(agent.cost.usd)}
        </span>
      </h3>
      <ol className="mt-1 border-l border-line-strong pl-3">
        {steps.map((step) =>
          step.type === 'agent' ? (
            <li key={step.node.agent.agent} className="-mr-5 -ml-2">
              <AgentCalls node={step.node} />
            </li>
          ) : (
            <li key={step.call.id}>
              <CallLine call={step.call} />
            </li>
          ),
        )}
      </ol>
    </section>
  )
}

function CallLine({ call }: { readonly call: AgentCall }) {
  const { usage } = call
  return (
    <div className="flex flex-wrap items-baseline gap-x-4 py-1 text-[13px] text-ink-soft tabular-nums">
      <PageLink to={`/logs/${call.id}`} search={{ session: call.session ?? '' }}>
        <DayTime at={call.startedAt} />
      </PageLink>
      <span className="min-w-0 flex-1 truncate" title={call.target ?? call.gateId}>
        {call.target ?? call.gateId}
      </span>
      {call.outcome === 'failed' && (
        <span className="text-danger">
          {call.status} {call.errorKind?.replaceAll('_', ' ')}
        </span>
      )}
      <span className="flex gap-x-4 max-sm:basis-full max-sm:gap-x-3 max-sm:text-xs">
        {usage !== null && (
          <span title="Input and output tokens, and the cached share of the input">
            {formatCount(usage.inputTokens)} in, {formatCount(usage.outputTokens)} out,{' '}
            {formatShare(usage.cachedInputTokens / usage.inputTokens)} cached
          </span>
        )}
        <span className="text-right whitespace-nowrap sm:w-16">
          {formatDuration(call.durationMs)}
        </span>
        <span className="text-right text-ink sm:w-16">{formatUsd(call.cost.usd)}</span>
      </span>
    </div>
  )
}
