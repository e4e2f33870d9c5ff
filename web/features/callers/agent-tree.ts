/** The agents of a session as a tree, each with its calls. */
import type { AnswerOf } from '../../api/ask.ts'

type Session = AnswerOf<'GET /v1/usage/sessions/{id}'>
export type Agent = Session['agents'][number]
export type AgentCall = Session['data'][number]

export interface AgentNode {
  readonly agent: Agent
  /** Calls and subagents in the order of time. */
  readonly steps: readonly AgentStep[]
}

export type AgentStep =
  | { readonly type: 'call'; readonly call: AgentCall }
  | { readonly type: 'agent'; readonly node: AgentNode }

/** An agent whose parent is missing stands at the top, and so do agents that name each other. */
export function toAgentTree(
  agents: readonly Agent[],
  calls: readonly AgentCall[],
): readonly AgentNode[] {
  const main = agents.find(({ agent }) => agent === null)
  const known = new Set(agents.map(({ agent }) => agent))
  const placed = new Set<string | null>()
  const toNode = (agent: Agent): AgentNode => {
    placed.add(agent.agent)
    const children = agents.filter(
      (child) => child.parentAgent === agent.agent && !placed.has(child.agent),
    )
    const steps = [
      ...calls
        .filter((call) => call.agent === agent.agent)
        .map((call) => ({ at: call.startedAt, step: { type: 'call', call } as const })),
      ...children.map((child) => ({
        at: child.firstAt,
        step: { type: 'agent', node: toNode(child) } as const,
      })),
    ]
    return {
      agent,
      steps: steps
        .toSorted((left, right) => left.at.localeCompare(right.at))
        .map(({ step }) => step),
    }
  }
  const roots = main === undefined ? [] : [toNode(main)]
  for (const agent of agents)
    if (!placed.has(agent.agent) && !known.has(agent.parentAgent)) roots.push(toNode(agent))
  for (const agent of agents) if (!placed.has(agent.agent)) roots.push(toNode(agent))
  return roots
}
