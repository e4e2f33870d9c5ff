/** Facts of models with open weights by their names, for servers that take their templates' settings. */
import type { Provider } from './define.ts'

// https://docs.vllm.ai/en/latest/features/reasoning_outputs/ and the models' templates: Qwen and GLM
// read `enable_thinking`, DeepSeek and Kimi `thinking`. A name that is not here is sent nothing.
export const openModels = {
  traits: [
    [/gpt-oss|deepseek-r1|\bqwq\b|minimax-m|thinking/i, { alwaysReasons: true }],
    [/qwen-?3|\bglm-/i, { withoutThinking: { chat_template_kwargs: { enable_thinking: false } } }],
    [
      /deepseek-v[3-9]|kimi-k[2-9]/i,
      { withoutThinking: { chat_template_kwargs: { thinking: false } } },
    ],
  ],
} as const satisfies Pick<Provider, 'traits'>
