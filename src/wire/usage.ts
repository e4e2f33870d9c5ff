/**
 * Each dialect's usage arithmetic in one table, from its own names to ours. Sums nothing a provider
 * did not report.
 */
import { toTrueUsage, type Usage } from '../core/usage.ts'
import { readReportedCost, withIterations } from './billing.ts'
import { readRegion, readSpeed, readTier, servedAs } from './served-as.ts'

type UsageReader = (reported: Record<string, unknown>) => Usage

export const USAGE_READERS = {
  /**
   * `input_tokens` includes cached ones and those written to a cache, `output_tokens` includes
   * reasoning ones (wire.md §2.2; https://github.com/openai/openai-node, `ResponseUsage`).
   */
  'openai-responses': (reported) => ({
    inputTokens: count(reported.input_tokens),
    outputTokens: count(reported.output_tokens),
    cachedInputTokens: part(detail(reported.input_tokens_details, 'cached_tokens')),
    reasoningTokens: part(detail(reported.output_tokens_details, 'reasoning_tokens')),
    ...cacheWrites(openaiWrites(reported.input_tokens_details)),
    ...hourWrites(halfDayDetails(reported.input_tokens_details)),
  }),
  /**
   * Chat and the dialects shaped like it: the same inclusion under other names (wire.md §3.1). Some
   * report the cached ones beside the details (https://platform.moonshot.ai/docs/api/chat,
   * https://api-docs.deepseek.com/guides/kv_cache).
   */
  'openai-chat': (reported) => {
    const reasoningTokens = part(detail(reported.completion_tokens_details, 'reasoning_tokens'))
    return {
      inputTokens: count(reported.prompt_tokens),
      outputTokens: count(reported.completion_tokens) + besideOutput(reported, reasoningTokens),
      cachedInputTokens:
        part(detail(reported.prompt_tokens_details, 'cached_tokens')) ||
        part(reported.cached_tokens) ||
        part(reported.prompt_cache_hit_tokens),
      reasoningTokens,
      ...cacheWrites(openaiWrites(reported.prompt_tokens_details)),
      ...hourWrites(halfDayDetails(reported.prompt_tokens_details)),
      ...audioOf(
        part(detail(reported.prompt_tokens_details, 'audio_tokens')),
        0,
        part(detail(reported.completion_tokens_details, 'audio_tokens')),
      ),
    }
  },
  'anthropic-messages': (reported) => ({
    ...withIterations(reported, ofMessages),
    ...servedMessage(reported),
  }),
  /**
   * `candidatesTokenCount` leaves out the thoughts; counts of a stream are cumulative (wire.md
   * §3.3).
   */
  gemini: (reported) => ({
    inputTokens: count(reported.promptTokenCount) + count(reported.toolUsePromptTokenCount),
    outputTokens: count(reported.candidatesTokenCount) + count(reported.thoughtsTokenCount),
    cachedInputTokens: part(reported.cachedContentTokenCount),
    reasoningTokens: part(reported.thoughtsTokenCount),
    // https://ai.google.dev/api/generate-content#UsageMetadata
    ...audioOf(
      audioIn(reported.promptTokensDetails) + audioIn(reported.toolUsePromptTokensDetails),
      audioIn(reported.cacheTokensDetails),
      audioIn(reported.candidatesTokensDetails),
    ),
    ...served(readTier(reported.trafficType) ?? readTier(reported.serviceTier)),
  }),
  /**
   * `billed_units` are the tokens that are paid for. `tokens` and the cached ones among them include
   * what the vendor puts before the prompt, which is what a cache holds first
   * (https://docs.cohere.com/v2/docs/how-does-cohere-pricing-work).
   */
  'cohere-chat': (reported) => {
    const billed = ofCohere(reported.billed_units)
    const read = ofCohere(reported.tokens)
    const cached = part(reported.cached_tokens)
    if (billed.inputTokens + billed.outputTokens === 0)
      return { ...read, cachedInputTokens: cached }
    const free = Math.max(0, read.inputTokens - billed.inputTokens)
    return { ...billed, cachedInputTokens: Math.max(0, cached - free) }
  },
  /** `inputTokens` leaves out what was read from and written to the cache (wire.md §3.4). */
  'bedrock-converse': (reported) => {
    const written = writtenOf(reported.cacheWriteInputTokens, sumDetails(reported.cacheDetails))
    return {
      inputTokens:
        count(reported.inputTokens) + count(reported.cacheReadInputTokens) + count(written),
      outputTokens: count(reported.outputTokens),
      cachedInputTokens: part(reported.cacheReadInputTokens),
      reasoningTokens: 0,
      ...cacheWrites(written),
      ...hourWrites(hourDetails(reported.cacheDetails)),
    }
  },
} as const satisfies Record<string, UsageReader>

/**
 * Some count reasoning beside what they call completion, and bill it alike: their total tells
 * (https://docs.x.ai/docs/key-information/consumption-and-rate-limits).
 */
function besideOutput(reported: Record<string, unknown>, reasoningTokens: number): number {
  const { prompt_tokens, completion_tokens, total_tokens } = reported
  if (reasoningTokens === 0) return 0
  const isBeside =
    total_tokens === count(prompt_tokens) + count(completion_tokens) + reasoningTokens
  return isBeside ? reasoningTokens : 0
}

function ofCohere(counted: unknown): Usage {
  return {
    inputTokens: count(detail(counted, 'input_tokens')),
    outputTokens: count(detail(counted, 'output_tokens')),
    cachedInputTokens: 0,
    reasoningTokens: 0,
  }
}

/** `input_tokens` leaves out what was read from and written to the cache (wire.md §3.2). */
function ofMessages(reported: Readonly<Record<string, unknown>>): Usage {
  const hours = part(detail(reported.cache_creation, 'ephemeral_1h_input_tokens'))
  const minutes = part(detail(reported.cache_creation, 'ephemeral_5m_input_tokens'))
  const written = writtenOf(reported.cache_creation_input_tokens, hours + minutes)
  return {
    inputTokens:
      count(reported.input_tokens) + count(reported.cache_read_input_tokens) + count(written),
    outputTokens: count(reported.output_tokens),
    cachedInputTokens: part(reported.cache_read_input_tokens),
    reasoningTokens: part(detail(reported.output_tokens_details, 'thinking_tokens')),
    ...cacheWrites(written),
    // https://platform.claude.com/docs/en/build-with-claude/prompt-caching#1-hour-cache-duration
    ...hourWrites(hours),
  }
}

export type UsageDialect = keyof typeof USAGE_READERS

/**
 * @returns null unless the provider sent an object whose sums are counts: a missing report is not a
 * report of zero, and neither is one that cannot be true. No call reads and writes nothing.
 * @param tier of the dialects that name the tier beside the usage
 */
export function readUsage(dialect: UsageDialect, reported: unknown, tier?: unknown): Usage | null {
  if (typeof reported !== 'object' || reported === null || Array.isArray(reported)) return null
  const report = reported as Record<string, unknown>
  const read = toTrueUsage(USAGE_READERS[dialect](report))
  if (read === null || read.inputTokens + read.outputTokens === 0) return null
  const usage = withReportedCost(read, report)
  return tier === undefined ? usage : { ...usage, ...served(readTier(tier)) }
}

const NOT_SERVED: Pick<Usage, 'served'> = {}

function served(...as: Parameters<typeof servedAs>): Pick<Usage, 'served'> {
  const told = servedAs(...as)
  return told === undefined ? NOT_SERVED : { served: told }
}

/** https://platform.claude.com/docs/en/api/messages, `usage`. */
function servedMessage({
  service_tier,
  speed,
  inference_geo,
}: Record<string, unknown>): Pick<Usage, 'served'> {
  return served(readTier(service_tier), readSpeed(speed), readRegion(inference_geo))
}

/** The model that answered, as the upstream names it. */
export function modelOf(answer: { readonly model?: unknown } | undefined): string | undefined {
  const model = answer?.model
  return typeof model === 'string' && model !== '' ? model : undefined
}

/** A few vendors add it to the counts of any dialect. */
export function withReportedCost(usage: Usage, report: Readonly<Record<string, unknown>>): Usage {
  const cost = readReportedCost(report)
  return cost === undefined ? usage : { ...usage, billing: { ...usage.billing, cost } }
}

/** Absent is not zero: what was written to a cache has a price of its own. */
function cacheWrites(reported: unknown): Pick<Usage, 'cacheWriteTokens'> {
  return typeof reported === 'number' ? { cacheWriteTokens: part(reported) } : {}
}

/** Some servers report the parts by their length of life, and not their sum. */
function writtenOf(reported: unknown, parts: number): unknown {
  return parts > part(reported) ? parts : reported
}

function openaiWrites(details: unknown): unknown {
  const parts = detail(details, 'cache_write_tokens_details')
  const sum = part(detail(parts, 'ttl_12h_tokens')) + part(detail(parts, 'ttl_30m_tokens'))
  return writtenOf(detail(details, 'cache_write_tokens'), sum)
}

function hourWrites(tokens: number): Pick<Usage, 'cacheWriteHourTokens'> {
  return tokens === 0 ? NO_HOURS : { cacheWriteHourTokens: tokens }
}

const NO_HOURS: Pick<Usage, 'cacheWriteHourTokens'> = {}

/** https://github.com/openai/openai-node, `CacheWriteTokensDetails`. */
function halfDayDetails(details: unknown): number {
  return part(detail(detail(details, 'cache_write_tokens_details'), 'ttl_12h_tokens'))
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html */
function hourDetails(details: unknown): number {
  if (!Array.isArray(details)) return 0
  return sumDetails(details.filter((each) => detail(each, 'ttl') === '1h'))
}

function sumDetails(details: unknown): number {
  if (!Array.isArray(details)) return 0
  return details.reduce<number>((sum, each) => sum + part(detail(each, 'inputTokens')), 0)
}

function audioOf(input: number, cachedInput: number, output: number): Pick<Usage, 'audio'> {
  return input + output === 0 ? NO_AUDIO : { audio: { input, cachedInput, output } }
}

const NO_AUDIO: Pick<Usage, 'audio'> = {}

/** @param details tokens by their modality */
function audioIn(details: unknown): number {
  if (!Array.isArray(details)) return 0
  return details
    .filter((each) => detail(each, 'modality') === 'AUDIO')
    .reduce<number>((sum, each) => sum + part(detail(each, 'tokenCount')), 0)
}

function detail(details: unknown, name: string): unknown {
  return isObject(details) ? details[name] : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** A count as reported, 0 where there is none, and NaN for what is no whole number. */
function count(value: unknown): number {
  if (value === undefined || value === null) return 0
  return isWholeNumber(value) ? value : Number.NaN
}

/** Of what is within another count, or beside it at a price of its own: 0 where it is no count. */
function part(value: unknown): number {
  return isWholeNumber(value) ? value : 0
}

function isWholeNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
