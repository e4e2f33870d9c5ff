import { expect, test } from 'bun:test'
import { type Agent, type AgentCall, type AgentNode, toAgentTree } from './agent-tree.ts'

const agent = (name: string | null, parentAgent: string | null, firstAt: string) =>
  ({ agent: name, parentAgent, firstAt }) as Agent
const call = (id: string, name: string | null, startedAt: string) =>
  ({ id, agent: name, startedAt }) as AgentCall

const outline = ({ agent: of, steps }: AgentNode): unknown => [
  of.agent ?? 'main',
  ...steps.map((step) => (step.type === 'call' ? step.call.id : outline(step.node))),
]

test('a subagent stands below its parent, at the time of its first call', () => {
  const agents = [agent(null, null, '1'), agent('a', null, '2'), agent('b', 'a', '3')]
  const calls = [
    ...[call('1', null, '1'), call('2', 'a', '2'), call('3', 'b', '3')],
    ...[call('4', 'a', '4'), call('5', null, '5')],
  ]
  expect(toAgentTree(agents, calls).map(outline)).toEqual([
    ['main', '1', ['a', '2', ['b', '3'], '4'], '5'],
  ])
})

test('agents without a known parent, and agents that name each other, are not lost', () => {
  const agents = [agent('a', 'gone', '1'), agent('b', 'c', '2'), agent('c', 'b', '3')]
  expect(toAgentTree(agents, []).map(outline)).toEqual([['a'], ['b', ['c']]])
})
