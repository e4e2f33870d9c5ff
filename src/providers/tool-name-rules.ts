/** The vendors' rules for the names of tools, by model. */
import type { RequestRulesRow, ToolNameRule } from '../wire/fit/request-rules.ts'

const WORDS_OF_64: ToolNameRule = { maxLength: 64, refused: /[^a-zA-Z0-9_-]/g }

/** Other vendors' models at the same address are fitted too: a shorter name hurts none of them. */
export const OPENAI_TOOL_NAMES: RequestRulesRow = {
  models: /./,
  source: 'https://platform.openai.com/docs/api-reference/chat/create',
  checked: '2026-11',
  rules: { toolNames: WORDS_OF_64 },
}

/** The pattern that its 400 names: https://github.com/home-assistant/core/issues/147760. */
export const ANTHROPIC_TOOL_NAMES: RequestRulesRow = {
  models: /./,
  source: 'https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use',
  checked: '2026-11',
  rules: { toolNames: { maxLength: 128, refused: /[^a-zA-Z0-9_-]/g } },
}

/** Vertex AI documents no colon, and 64 characters where the Gemini API takes 128. */
export const GOOGLE_TOOL_NAMES: RequestRulesRow = {
  models: /./,
  source:
    'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/FunctionDeclaration',
  checked: '2026-11',
  rules: { toolNames: { maxLength: 64, refused: /[^a-zA-Z0-9_.-]|^[^a-zA-Z_]/g } },
}

export const BEDROCK_TOOL_NAMES: RequestRulesRow = {
  models: /./,
  source:
    'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html',
  checked: '2026-11',
  rules: { toolNames: WORDS_OF_64 },
}
