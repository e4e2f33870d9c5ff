/** Anthropic: the Messages interface. */
import { HOSTED_MEMBERS } from '../core/chat-words.ts'
import { anthropicModels } from './anthropic-models.ts'
import { defineProvider } from './define.ts'

export const anthropic = defineProvider({
  id: 'anthropic',
  name: 'Anthropic',
  docs: 'https://docs.anthropic.com/en/api/messages',
  baseUrl: 'https://api.anthropic.com',
  keyHeader: 'x-api-key',
  // https://platform.claude.com/docs/en/api/models-list
  keyCheck: { path: '/v1/models' },
  headers: { 'anthropic-version': '2023-06-01' },
  endpoints: {
    'anthropic-messages': {
      path: '/v1/messages',
      checksSignatures: true,
      hosts: HOSTED_MEMBERS,
      ownerMembers: ['fallbacks'],
      modelMembers: ['fallbacks'],
      // https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
      ownerTools: ['advisor'],
    },
    'anthropic-count-tokens': { path: '/v1/messages/count_tokens', checksSignatures: true },
  },
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool (2026-11): only
  // searches that succeed, as `usage` reports them. Code execution costs by the hour.
  toolFees: { webSearch: 10 },
  // Five minutes of code execution, the least that is charged, at 0.05 US dollars an hour.
  usualToolFees: { otherTool: 4.2 },
  // https://platform.claude.com/docs/en/about-claude/pricing (2026-11). The priority tier is bought
  // ahead at a price that is not published.
  priceFactors: [
    { kind: 'tier', value: /^batch$/, factor: 0.5 },
    { kind: 'speed', value: /^fast$/, models: /^claude-opus-4-[67](?!\d)/, factor: 6 },
    { kind: 'speed', value: /^fast$/, models: /^claude-opus-(?:4-8|5|5-5)(?![-\d])/, factor: 2 },
    // Older models cannot be asked for a region.
    { kind: 'region', value: /^us$/, factor: 1.1 },
  ],
  ...anthropicModels,
})
