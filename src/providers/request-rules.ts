/**
 * Rules of vendors' models for translated requests (decision 0120). Every row has a source, so
 * requests to an unlisted model stay unchanged.
 */
import type { ReasoningEffort } from '../core/gate.ts'
import type { ToolNameRule } from '../core/request-rules.ts'
import type { RequestRulesRow } from '../wire/fit/request-rules.ts'

const CHECKED = '2026-11'

const WORDS_OF_64: ToolNameRule = { maxLength: 64, characters: 'a-zA-Z0-9_-' }

const limitOf = (models: RegExp, maxOutputTokens: number, source: string): RequestRulesRow => ({
  models,
  source,
  checked: CHECKED,
  rules: { maxOutputTokens },
})

const effortsOf = (models: RegExp, ...efforts: readonly ReasoningEffort[]): RequestRulesRow => ({
  models,
  source: 'https://developers.openai.com/api/docs/guides/reasoning',
  checked: CHECKED,
  rules: { efforts },
})

const OPENAI_MODELS = 'https://developers.openai.com/api/docs/models'

export const OPENAI_RULES: readonly RequestRulesRow[] = [
  {
    models: /./,
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    checked: CHECKED,
    rules: { toolNames: WORDS_OF_64, maxStops: 4 },
  },
  {
    models: /./,
    source: 'https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas',
    checked: CHECKED,
    rules: { plainToolSchemas: true, strictSchemas: true },
  },
  {
    models: /./,
    // OpenAI answers 400 `string_above_max_length`, for ids of calls too.
    source: 'https://github.com/AnswerDotAI/fastllm/issues/45',
    checked: CHECKED,
    rules: { maxUserLength: 64, maxCallIdLength: 64 },
  },
  effortsOf(/^(?:ft:)?o[134](?:-mini|-pro)?(?:-\d{4}|$)/, 'low', 'medium', 'high'),
  effortsOf(/^gpt-5(?:-mini|-nano)?(?:-\d{4}|$)/, 'minimal', 'low', 'medium', 'high'),
  effortsOf(/^gpt-5-codex/, 'low', 'medium', 'high'),
  effortsOf(/^gpt-5-pro/, 'high'),
  effortsOf(/^gpt-5\.1(?:-\d{4}|$)/, 'none', 'low', 'medium', 'high'),
  effortsOf(/^gpt-5\.1-codex/, 'low', 'medium', 'high'),
  effortsOf(/^gpt-5\.1-codex-max/, 'low', 'medium', 'high', 'xhigh'),
  effortsOf(
    /^gpt-5\.[2-6](?:-mini|-nano|-sol|-terra|-luna)?(?:-\d{4}|$)/,
    ...(['none', 'low', 'medium', 'high', 'xhigh'] as const),
  ),
  effortsOf(/^gpt-5\.[2-4]-codex/, 'low', 'medium', 'high', 'xhigh'),
  effortsOf(/^gpt-5\.[2-5]-pro/, 'medium', 'high', 'xhigh'),
  effortsOf(/^gpt-5\.[1-3]-chat-latest/, 'medium'),
  {
    models: /^(?:ft:)?(?:o[134](?:-|$)|gpt-5(?:-mini|-nano|-codex|-pro)?(?:-\d{4}|$))/,
    source: 'https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning',
    checked: CHECKED,
    rules: { refusedSettings: ['presencePenalty', 'frequencyPenalty', 'logprobs', 'topLogprobs'] },
  },
  {
    models: /^(?:o1|o3-mini)(?:-|$)/,
    source: 'https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning',
    checked: CHECKED,
    rules: {
      refusedSettings: [
        ...(['presencePenalty', 'frequencyPenalty', 'logprobs', 'topLogprobs'] as const),
        'parallelToolCalls',
      ],
    },
  },
  limitOf(/^gpt-4(?:-\d{4}|$)/, 8192, OPENAI_MODELS),
  limitOf(/^gpt-(?:4-turbo|3\.5-turbo)/, 4096, OPENAI_MODELS),
  limitOf(/^gpt-4o(?:-mini)?(?:-\d{4}|$)/, 16_384, OPENAI_MODELS),
  limitOf(/^gpt-4o-2024-05-13/, 4096, OPENAI_MODELS),
  limitOf(/^gpt-4\.1/, 32_768, OPENAI_MODELS),
  limitOf(/^o(?:1|3|3-mini|4-mini)(?:-\d{4}|$)/, 100_000, OPENAI_MODELS),
  limitOf(/^gpt-5(?:\.[1-6])?(?:-mini|-nano|-codex)?(?:-\d{4}|$)/, 128_000, OPENAI_MODELS),
]

const CLAUDE_MODELS = 'https://platform.claude.com/docs/en/about-claude/models/overview'

/** By the names that Anthropic, Bedrock and Vertex AI share. */
export const CLAUDE_RULES: readonly RequestRulesRow[] = [
  {
    // From 4.6 on: the 400 says that the conversation must end with a user message.
    models: /claude-(?:(?:opus|sonnet)-4-[6-9]|(?:opus|sonnet|haiku|fable|mythos)-[5-9])/,
    source: 'https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6',
    checked: CHECKED,
    rules: { refusesPrefill: true },
  },
  {
    models: /claude-/,
    source: 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs',
    checked: CHECKED,
    rules: { closedSchemas: true },
  },
  {
    models: /claude-(?:3|2|instant|(?:opus|sonnet)-4(?:-0)?(?:[-@]\d{8}|$))/,
    source: 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs',
    checked: CHECKED,
    rules: { refusesResponseSchema: true },
  },
  limitOf(/claude-3-(?:opus|haiku)/, 4096, CLAUDE_MODELS),
  limitOf(/claude-3-5-/, 8192, CLAUDE_MODELS),
  limitOf(/claude-(?:opus-4(?:-1)?)(?:[-@]\d{8}|$)/, 32_000, CLAUDE_MODELS),
  limitOf(/claude-(?:(?:opus|sonnet)-4-6|opus-4-[78])(?![.\d])/, 128_000, CLAUDE_MODELS),
  limitOf(/claude-(?:(?:sonnet|haiku)-4(?:-[56])?|opus-4-5)(?:[-@]\d{8}|$)/, 64_000, CLAUDE_MODELS),
]

export const ANTHROPIC_RULES: readonly RequestRulesRow[] = [
  {
    models: /./,
    // Anthropic's 400 names the pattern.
    source: 'https://github.com/home-assistant/core/issues/147760',
    checked: CHECKED,
    rules: { toolNames: { maxLength: 128, characters: 'a-zA-Z0-9_-' } },
  },
  {
    models: /./,
    // The vendor answers 400 `text content blocks must contain non-whitespace text`.
    source: 'https://github.com/anthropics/claude-code/issues/23440',
    checked: CHECKED,
    rules: { refusesBlankText: true, maxUserLength: 256, plainToolSchemas: true },
  },
  {
    // A base64 document is a PDF; text has a source of its own.
    models: /./,
    source:
      'https://platform.claude.com/docs/en/build-with-claude/files#file-types-and-content-blocks',
    checked: CHECKED,
    rules: { refusesTextFiles: true },
  },
  ...CLAUDE_RULES,
]

const GOOGLE_THINKING = 'https://ai.google.dev/gemini-api/docs/thinking'
const GOOGLE_MODELS = 'https://ai.google.dev/gemini-api/docs/models'

export const GOOGLE_RULES: readonly RequestRulesRow[] = [
  {
    // Vertex AI documents no colon, and 64 characters where the Gemini API takes 128.
    models: /./,
    source:
      'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/FunctionDeclaration',
    checked: CHECKED,
    rules: { toolNames: { maxLength: 64, characters: 'a-zA-Z0-9_.-', first: 'a-zA-Z_' } },
  },
  {
    // The vendor answers 400 `function call turn comes immediately after a user turn`.
    models: /./,
    source: 'https://github.com/google-gemini/gemini-cli/issues/11814',
    checked: CHECKED,
    rules: { beginsWithUser: true },
  },
  {
    // The vendor answers 400 `Penalty is not enabled for this model`.
    models: /^gemini-(?:2\.5|[3-9])/,
    source: 'https://github.com/vercel/ai/issues/8943',
    checked: CHECKED,
    rules: { refusedSettings: ['presencePenalty', 'frequencyPenalty'] },
  },
  {
    // Function calling with a response MIME type of JSON is unsupported before Gemini 3.
    models: /^gemini-2/,
    source: 'https://ai.google.dev/gemini-api/docs/structured-output',
    checked: CHECKED,
    rules: { formatExcludesTools: true },
  },
  {
    models: /^gemini-2\.5-pro/,
    source: GOOGLE_THINKING,
    checked: CHECKED,
    rules: { thinkingBudget: { least: 128, most: 32_768 } },
  },
  {
    models: /^gemini-2\.5-flash/,
    source: GOOGLE_THINKING,
    checked: CHECKED,
    rules: { thinkingBudget: { least: 1, most: 24_576, zero: true } },
  },
  {
    models: /^gemini-2\.5-flash-lite/,
    source: GOOGLE_THINKING,
    checked: CHECKED,
    rules: { thinkingBudget: { least: 512, most: 24_576, zero: true } },
  },
  limitOf(/^gemini-(?:1\.5|2\.0)-/, 8192, GOOGLE_MODELS),
  limitOf(/^gemini-2\.5-(?:pro|flash)/, 65_535, GOOGLE_MODELS),
]

export const BEDROCK_RULES: readonly RequestRulesRow[] = [
  {
    models: /./,
    source:
      'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html',
    checked: CHECKED,
    rules: { toolNames: WORDS_OF_64, maxCallIdLength: 64 },
  },
  {
    models: /./,
    // The vendor answers 400 `The text field in the ContentBlock object is blank`.
    source: 'https://github.com/continuedev/continue/issues/9767',
    checked: CHECKED,
    rules: { refusesBlankText: true, plainToolSchemas: true },
  },
  {
    // The vendor answers 400 `A conversation must start with a user message`.
    models: /./,
    source: 'https://github.com/strands-agents/harness-sdk/issues/2085',
    checked: CHECKED,
    rules: { beginsWithUser: true },
  },
  ...CLAUDE_RULES,
]

export const MISTRAL_RULES: readonly RequestRulesRow[] = [
  {
    // The vendor answers 400 `Function name was … but must be a-z, A-Z, 0-9, or contain underscores
    // and dashes, with a maximum length of 64`.
    models: /./,
    source: 'https://github.com/Kochava-Studios/witsy/pull/164',
    checked: CHECKED,
    rules: { toolNames: WORDS_OF_64 },
  },
  {
    // The vendor answers 400 with the code 3230.
    models: /./,
    source: 'https://github.com/mistralai/mistral-common/issues/169',
    checked: CHECKED,
    rules: { systemFirst: true, assistantAfterTool: true },
  },
]

export const DEEPSEEK_RULES: readonly RequestRulesRow[] = [
  {
    models: /./,
    source: 'https://github.com/zed-industries/zed/issues/57531',
    checked: CHECKED,
    rules: { toolNames: WORDS_OF_64 },
  },
]

/** For servers of open-weight models, which refuse what the models' own chat templates refuse. */
export const OPEN_MODEL_RULES: readonly RequestRulesRow[] = [
  {
    // Servers that copy OpenAI's interface copy its limit. Claude Code names its user in 150
    // characters.
    models: /./,
    source: 'https://github.com/AnswerDotAI/fastllm/issues/45',
    checked: CHECKED,
    rules: { maxUserLength: 64 },
  },
  {
    // The template raises an error for a user's turn after a tool's result.
    models: /mistral|mixtral|ministral|magistral|devstral|codestral/i,
    source: 'https://github.com/mistralai/mistral-common/issues/169',
    checked: CHECKED,
    rules: { systemFirst: true, assistantAfterTool: true, mergesUserTurns: true },
  },
  {
    // The template says: System message must be at the beginning.
    models: /qwen-?3/i,
    source: 'https://huggingface.co/Qwen/Qwen3.5-35B-A3B/blob/main/chat_template.jinja',
    checked: CHECKED,
    rules: { systemFirst: true },
  },
]
