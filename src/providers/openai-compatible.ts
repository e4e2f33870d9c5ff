/**
 * Providers with OpenAI's chat endpoint, and some with its embeddings, one row each. The operator
 * sets the address of self-hosted servers (`OLLAMA_BASE_URL`), so callers reach nothing on the
 * gateway's machine by default. Self-hosted servers accept any key.
 */
import { type Endpoint, MODEL_MEMBERS, type Provider } from './define.ts'
import { DEEPSEEK_RULES, OPEN_MODEL_RULES } from './request-rules.ts'

// Qwen and GLM read `enable_thinking`, DeepSeek and Kimi `thinking`. Other models get no setting
// (https://docs.vllm.ai/en/latest/features/reasoning_outputs/ and the models' templates).
/** For servers that accept the settings of open-weight models' templates. */
const openModels = {
  traits: [
    [/gpt-oss|deepseek-r1|\bqwq\b|minimax-m|thinking/i, { alwaysReasons: true }],
    [/qwen-?3|\bglm-/i, { withoutThinking: { chat_template_kwargs: { enable_thinking: false } } }],
    [
      /deepseek-v[3-9]|kimi-k[2-9]/i,
      { withoutThinking: { chat_template_kwargs: { thinking: false } } },
    ],
  ],
} as const satisfies Pick<Provider, 'traits'>

interface Row extends Omit<Provider, 'endpoints'> {
  readonly chat?: Partial<Endpoint>
  readonly hasEmbeddings?: true
}

const ROWS: readonly Row[] = [
  {
    id: 'cerebras',
    name: 'Cerebras',
    docs: 'https://inference-docs.cerebras.ai/api-reference/chat-completions',
    baseUrl: 'https://api.cerebras.ai/v1',
    // https://inference-docs.cerebras.ai/api-reference/models
    keyCheck: { path: '/models' },
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    docs: 'https://api-docs.deepseek.com/',
    baseUrl: 'https://api.deepseek.com/v1',
    // https://api-docs.deepseek.com/api/list-models
    keyCheck: { path: '/models' },
    rules: DEEPSEEK_RULES,
    // https://api-docs.deepseek.com/guides/thinking_mode
    traits: [[/./, { withoutThinking: { thinking: { type: 'disabled' } } }]],
    // https://api-docs.deepseek.com/quick_start/pricing: off-peak all day on weekends in Beijing,
    // from August 23, 2026. No peak hour contains noon in UTC.
    flatDays: {
      models: /^deepseek-v4/,
      fromMs: Date.parse('2026-08-23T00:00:00+08:00'),
      weekdays: [0, 6],
      utcOffsetHours: 8,
      atUtcHour: 12,
    },
  },
  {
    id: 'fireworks',
    name: 'Fireworks AI',
    docs: 'https://docs.fireworks.ai/api-reference/post-chatcompletions',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    hasEmbeddings: true,
  },
  {
    id: 'groq',
    name: 'Groq',
    docs: 'https://console.groq.com/docs/api-reference',
    baseUrl: 'https://api.groq.com/openai/v1',
    // https://console.groq.com/docs/api-reference#models-list
    keyCheck: { path: '/models' },
    // https://console.groq.com/docs/reasoning
    traits: [
      [/gpt-oss/, { alwaysReasons: true }],
      [/qwen3/, { withoutThinking: { reasoning_effort: 'none' } }],
    ],
  },
  {
    id: 'llamacpp',
    name: 'llama.cpp',
    docs: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    fallbackKey: 'none',
    isSelfHosted: true,
    hasEmbeddings: true,
    ...openModels,
  },
  {
    id: 'lmstudio',
    name: 'LM Studio',
    docs: 'https://lmstudio.ai/docs/developer/openai-compat',
    fallbackKey: 'none',
    isSelfHosted: true,
    hasEmbeddings: true,
  },
  {
    id: 'nvidia',
    name: 'NVIDIA NIM',
    docs: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    hasEmbeddings: true,
  },
  {
    id: 'ollama',
    name: 'Ollama',
    docs: 'https://docs.ollama.com/api/openai-compatibility',
    fallbackKey: 'none',
    isSelfHosted: true,
    hasEmbeddings: true,
    // https://docs.ollama.com/api/openai-compatibility: models that do not think accept the effort
    // too.
    traits: [
      [/gpt-oss/, { alwaysReasons: true }],
      [/./, { withoutThinking: { reasoning_effort: 'none' } }],
    ],
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    docs: 'https://openrouter.ai/docs/api-reference',
    baseUrl: 'https://openrouter.ai/api/v1',
    // https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key: the model list needs
    // no key.
    keyCheck: { path: '/key' },
    hasEmbeddings: true,
    // https://openrouter.ai/docs/use-cases/reasoning-tokens: models that always think refuse the
    // effort `none`.
    traits: [
      [
        /\bo[1-9]\b|gpt-5(?![.\d])|gpt-oss|gemini-(?:2\.5-pro|[3-9])|claude-(?:fable|mythos|opus-5[.-]5)|deepseek-r1|minimax-m|thinking/,
        { alwaysReasons: true },
      ],
      [/./, { withoutThinking: { reasoning: { effort: 'none' } } }],
    ],
    // The table includes neither the models' searches, nor prices of pictures and speech.
    pricedInPart: /sonar|-online|-search|deep-research|-image|\baudio\b/,
    // Five results, the default of a search, at 4 US dollars per thousand
    // (https://openrouter.ai/docs/guides/features/plugins/web-search).
    usualToolFees: { otherTool: 20 },
    // Every answer, and the last event of a stream, reports its cost. Routers (`openrouter/auto`)
    // are not in the table, and cost as much as the model that they choose
    // (https://openrouter.ai/docs/cookbook/administration/usage-accounting).
    reportsCosts: { form: 'usage.cost', unlisted: { input: 15, output: 75 } },
    // https://openrouter.ai/docs/guides/routing/model-fallbacks: a caller can provoke an error of
    // the first model, for example by a long prompt, and so reach these models.
    chat: {
      countsStreamsOnRequest: false,
      ownerMembers: MODEL_MEMBERS,
      modelMembers: MODEL_MEMBERS,
      // https://openrouter.ai/docs/guides/features/server-tools
      ownerTools: ['openrouter:advisor', 'openrouter:subagent', 'openrouter:fusion'],
    },
  },
  {
    id: 'perplexity',
    name: 'Perplexity',
    docs: 'https://docs.perplexity.ai/api-reference/chat-completions-post',
    baseUrl: 'https://api.perplexity.ai',
    // https://docs.perplexity.ai/getting-started/pricing: research models charge for reasoning,
    // citations and searches. Other models also charge per request, which the table does not list.
    // The fee is 0, because the table's request fee is that of the most expensive search.
    usualToolFees: { otherTool: 0 },
    // Answers report the whole cost
    // (https://docs.perplexity.ai/api-reference/chat-completions-post).
    reportsCosts: { form: 'usage.cost.total_cost', unlisted: { input: 3, output: 15 } },
    pricedInPart: /deep-research|-search$|-online$/,
  },
  {
    id: 'together',
    name: 'Together AI',
    docs: 'https://docs.together.ai/reference',
    baseUrl: 'https://api.together.xyz/v1',
    // https://docs.together.ai/reference/models-1
    keyCheck: { path: '/models' },
    hasEmbeddings: true,
  },
  {
    id: 'vllm',
    name: 'vLLM',
    docs: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
    fallbackKey: 'none',
    isSelfHosted: true,
    // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html: the key guards `/v1`.
    keyCheck: { path: '/models' },
    hasEmbeddings: true,
    ...openModels,
  },
  {
    id: 'xai',
    name: 'xAI',
    telemetryName: 'x_ai',
    docs: 'https://docs.x.ai/docs/api-reference',
    baseUrl: 'https://api.x.ai/v1',
    // https://docs.x.ai/docs/api-reference#get-api-key-information: a wrong key is refused with
    // 400.
    keyCheck: { path: '/api-key', refusedWith: 400 },
    pricedAs: 'x-ai',
    // https://docs.x.ai/developers/cost-tracking: includes searches and other tools of xAI.
    reportsCosts: { form: 'usage.cost_in_usd_ticks', unlisted: { input: 5, output: 25 } },
  },
]

export const openaiCompatible = ROWS.map(
  ({ chat, hasEmbeddings, ...row }): Provider => ({
    rules: OPEN_MODEL_RULES,
    ...row,
    endpoints: {
      'openai-chat': { path: '/chat/completions', countsStreamsOnRequest: true, ...chat },
      ...(hasEmbeddings === true ? { 'openai-embeddings': { path: '/embeddings' } } : {}),
    },
  }),
)
