import {
  audioOf,
  cacheWrites,
  countOf,
  detailOf,
  hourWrites,
  partOf,
  type UsageReader,
  writtenOf,
} from '../usage.ts'

/**
 * Usage of Chat and similar dialects. Some providers report cached tokens outside the details
 * (https://platform.moonshot.ai/docs/api/chat, https://api-docs.deepseek.com/guides/kv_cache).
 */
export const readChatCounts: UsageReader = (reported) => {
  const reasoningTokens = partOf(detailOf(reported.completion_tokens_details, 'reasoning_tokens'))
  return {
    inputTokens: countOf(reported.prompt_tokens),
    outputTokens: countOf(reported.completion_tokens) + outsideOutput(reported, reasoningTokens),
    cachedInputTokens:
      partOf(detailOf(reported.prompt_tokens_details, 'cached_tokens')) ||
      partOf(reported.cached_tokens) ||
      partOf(reported.prompt_cache_hit_tokens),
    reasoningTokens,
    ...cacheWrites(openaiWrites(reported.prompt_tokens_details)),
    ...hourWrites(halfDayDetails(reported.prompt_tokens_details)),
    ...audioOf(
      partOf(detailOf(reported.prompt_tokens_details, 'audio_tokens')),
      0,
      partOf(detailOf(reported.completion_tokens_details, 'audio_tokens')),
    ),
  }
}

/**
 * Some providers count reasoning outside of completion tokens and charge the same price, as their
 * total shows (https://docs.x.ai/docs/key-information/consumption-and-rate-limits).
 */
function outsideOutput(reported: Record<string, unknown>, reasoningTokens: number): number {
  const { prompt_tokens, completion_tokens, total_tokens } = reported
  if (reasoningTokens === 0) return 0
  const isOutside =
    total_tokens === countOf(prompt_tokens) + countOf(completion_tokens) + reasoningTokens
  return isOutside ? reasoningTokens : 0
}

export function openaiWrites(details: unknown): unknown {
  const parts = detailOf(details, 'cache_write_tokens_details')
  const sum = partOf(detailOf(parts, 'ttl_12h_tokens')) + partOf(detailOf(parts, 'ttl_30m_tokens'))
  return writtenOf(detailOf(details, 'cache_write_tokens'), sum)
}

/** https://github.com/openai/openai-node, `CacheWriteTokensDetails`. */
export function halfDayDetails(details: unknown): number {
  return partOf(detailOf(detailOf(details, 'cache_write_tokens_details'), 'ttl_12h_tokens'))
}
