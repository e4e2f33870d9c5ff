/** Anthropic: the Messages interface. */
import { anthropicModels } from './anthropic-models.ts'
import { defineProvider } from './define.ts'

export const anthropic = defineProvider({
  id: 'anthropic',
  name: 'Anthropic',
  docs: 'https://docs.anthropic.com/en/api/messages',
  baseUrl: 'https://api.anthropic.com',
  keyHeader: 'x-api-key',
  headers: { 'anthropic-version': '2023-06-01' },
  endpoints: {
    'anthropic-messages': {
      path: '/v1/messages',
      checksSignatures: true,
      hosts: ['thread', 'container', 'mcp_servers'],
      ownerMembers: ['fallbacks'],
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
  ...anthropicModels,
})
