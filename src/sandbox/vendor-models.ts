/**
 * Vendors' models that the sandbox plays under their own names, and what each of them refuses. The
 * table is the sandbox's own: it checks the gateway's rules, so it shares none of them.
 */

export interface ModelLimits {
  readonly maxOutputTokens?: number
  /** The accepted efforts, in the vendor's order. */
  readonly efforts?: readonly string[]
  /** Tokens. `zero`: a budget of 0 turns thinking off. */
  readonly thinking?: { readonly least: number; readonly most: number; readonly zero?: true }
  /** Parameters that the model refuses beyond those of its kind. */
  readonly refused?: readonly string[]
  readonly refusesPrefill?: true
  readonly refusesResponseSchema?: true
  readonly refusesPenalties?: true
  readonly refusesJsonWithTools?: true
}

interface VendorModel {
  readonly names: readonly string[]
  /** The sandbox's own model whose answers it gives. */
  readonly base: 'echo' | 'echo-reasoning'
  readonly limits: ModelLimits
  readonly source: string
  /** The month in which the source was read. */
  readonly checked: string
}

const OPENAI_EFFORTS = 'https://developers.openai.com/api/docs/guides/reasoning'
const CLAUDE = 'https://platform.claude.com/docs/en/about-claude/models/overview'
const CLAUDE_SCHEMAS = 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs'
const GOOGLE_THINKING = 'https://ai.google.dev/gemini-api/docs/thinking#set-budget'
const CHECKED = '2026-11'

const VENDOR_MODELS: readonly VendorModel[] = [
  {
    names: ['gpt-4o'],
    base: 'echo',
    limits: { maxOutputTokens: 16_384 },
    source: 'https://github.com/tailcallhq/forgecode/issues/1185',
    checked: CHECKED,
  },
  {
    names: ['gpt-5'],
    base: 'echo-reasoning',
    limits: { maxOutputTokens: 128_000, efforts: ['minimal', 'low', 'medium', 'high'] },
    source: OPENAI_EFFORTS,
    checked: CHECKED,
  },
  {
    names: ['gpt-5.1'],
    base: 'echo-reasoning',
    limits: { maxOutputTokens: 128_000, efforts: ['none', 'low', 'medium', 'high'] },
    source: 'https://github.com/anomalyco/opencode/issues/4451',
    checked: CHECKED,
  },
  {
    names: ['o3'],
    base: 'echo-reasoning',
    limits: { maxOutputTokens: 100_000, efforts: ['low', 'medium', 'high'] },
    source: OPENAI_EFFORTS,
    checked: CHECKED,
  },
  {
    names: ['o3-mini'],
    base: 'echo-reasoning',
    limits: {
      maxOutputTokens: 100_000,
      efforts: ['low', 'medium', 'high'],
      refused: ['parallel_tool_calls'],
    },
    source: 'https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning',
    checked: CHECKED,
  },
  {
    names: ['claude-opus-4-6', 'anthropic.claude-opus-4-6-v1'],
    base: 'echo',
    limits: { maxOutputTokens: 128_000, refusesPrefill: true },
    source: 'https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6',
    checked: CHECKED,
  },
  {
    names: ['claude-opus-5-5', 'anthropic.claude-opus-5-5'],
    base: 'echo-reasoning',
    limits: { refusesPrefill: true },
    source: 'https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting',
    checked: CHECKED,
  },
  {
    names: ['claude-sonnet-4-5', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
    base: 'echo',
    limits: { maxOutputTokens: 64_000 },
    source: CLAUDE,
    checked: CHECKED,
  },
  {
    names: ['claude-sonnet-4-20250514', 'anthropic.claude-sonnet-4-20250514-v1:0'],
    base: 'echo',
    limits: { maxOutputTokens: 64_000, refusesResponseSchema: true },
    source: CLAUDE_SCHEMAS,
    checked: CHECKED,
  },
  {
    names: ['claude-3-haiku-20240307', 'anthropic.claude-3-haiku-20240307-v1:0'],
    base: 'echo',
    limits: { maxOutputTokens: 4096, refusesResponseSchema: true },
    source: CLAUDE,
    checked: CHECKED,
  },
  {
    names: ['gemini-2.5-pro'],
    base: 'echo',
    limits: {
      thinking: { least: 128, most: 32_768 },
      refusesPenalties: true,
      refusesJsonWithTools: true,
    },
    source: GOOGLE_THINKING,
    checked: CHECKED,
  },
  {
    names: ['gemini-2.5-flash'],
    base: 'echo',
    limits: {
      thinking: { least: 1, most: 24_576, zero: true },
      refusesPenalties: true,
      refusesJsonWithTools: true,
    },
    source: GOOGLE_THINKING,
    checked: CHECKED,
  },
  {
    names: ['gemini-3-pro'],
    base: 'echo-reasoning',
    limits: { refusesPenalties: true },
    source: 'https://github.com/vercel/ai/issues/8943',
    checked: CHECKED,
  },
]

export function findVendorModel(name: string): VendorModel | undefined {
  return VENDOR_MODELS.find(({ names }) => names.includes(name))
}
