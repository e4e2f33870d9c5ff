import { describe, expect, test } from 'bun:test'
import { isContextFull, toContextBody, toContextMessage, toContextStatus } from './context-full.ts'
import type { UpstreamErrorAnswer } from './upstream-error.ts'

const ASKED = { inputTokens: 12_000, outputTokens: 32_000 }
const BOTH = (input: number, output: number, limit: number) =>
  `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}`
const LONG = (input: number, limit: number) =>
  `prompt is too long: ${input} tokens > ${limit} maximum`
const PLAIN = 'prompt is too long: '

/** An agent's table of vendors' messages, with tests against each vendor. */
const PI = 'https://github.com/badlogic/pi-mono/blob/main/packages/ai/src/utils/overflow.ts'
const CLAUDE_CODE = 'the words that @anthropic-ai/claude-code 2.1.332 looks for'
/** Recognised since the first version of this file. */
const EARLIER = 'no page'

interface Wording {
  readonly vendor: string
  /** The page or program that shows the message. */
  readonly source: string
  readonly wording: string
  /** The beginning of the message that a Messages caller gets after asking for 32,000 tokens. */
  readonly expected: string
}

const WORDINGS: readonly Wording[] = [
  {
    vendor: 'Anthropic',
    source: 'https://github.com/stackblitz/bolt.new/issues/2307',
    wording: 'prompt is too long: 202788 tokens > 200000 maximum',
    expected: LONG(202788, 200000),
  },
  {
    vendor: 'Anthropic, input and output',
    source: 'https://github.com/stackblitz/bolt.new/issues/7414',
    wording: 'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000',
    expected: BOTH(199000, 8192, 200000),
  },
  {
    vendor: 'Bedrock',
    source: PI,
    wording: 'Input is too long for requested model.',
    expected: PLAIN,
  },
  {
    vendor: 'Bedrock, open models',
    source: 'https://github.com/vllm-project/vllm/issues/42474',
    wording:
      "This model's maximum context length is 202752 tokens. However, you requested 64000 output tokens and your prompt contains at least 138753 input tokens, for a total of at least 202753 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
    expected: BOTH(138753, 64000, 202752),
  },
  {
    vendor: 'Cohere',
    source: EARLIER,
    wording:
      'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292',
    expected: PLAIN,
  },
  {
    vendor: 'OpenAI',
    source: 'https://github.com/webtimemachine/wtm2/issues/579',
    wording:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
    expected: LONG(204308, 128000),
  },
  {
    vendor: 'OpenAI, with its first wording',
    source: 'https://github.com/tatsu-lab/stanford_alpaca/issues/47',
    wording:
      "This model's maximum context length is 14097 tokens, however you requested 14162 tokens (1090 in your prompt; 13072 for the completion). Please reduce your prompt; or completion length.",
    expected: BOTH(1090, 13072, 14097),
  },
  {
    vendor: 'OpenAI, with functions',
    source: 'https://github.com/FoundationAgents/OpenManus/issues/62',
    wording:
      "This model's maximum context length is 18192 tokens. However, you requested 18213 tokens (6683 in the messages, 730 in the functions, and 10800 in the completion). Please reduce the length of the messages, functions, or completion.",
    expected: BOTH(7413, 10800, 18192),
  },
  {
    vendor: 'OpenAI, Responses',
    source: PI,
    wording:
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
    expected: PLAIN,
  },
  {
    vendor: 'Azure',
    source: CLAUDE_CODE,
    wording:
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301213 tokens. Please reduce the length of the messages.',
    expected: LONG(301213, 272000),
  },
  {
    vendor: 'DeepSeek',
    source: 'https://github.com/evalstate/fast-agent/issues/621',
    wording:
      "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    expected: BOTH(122942, 8192, 131072),
  },
  {
    vendor: 'DeepSeek, without output',
    source: 'https://github.com/anomalyco/models.dev/issues/1295',
    wording:
      "This model's maximum context length is 131072 tokens. However, you requested 131749 tokens (131749 in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
    expected: LONG(131749, 131072),
  },
  {
    vendor: 'OpenRouter',
    source: 'https://github.com/boldsoftware/shelley/issues/159',
    wording:
      "This endpoint's maximum context length is 204800 tokens. However, you requested about 205432 tokens (81684 of text input, 3748 of tool input, 120000 in the output). Please reduce the length of either one.",
    expected: BOTH(85432, 120000, 204800),
  },
  {
    vendor: 'OpenRouter, whose input alone is too long',
    source: 'https://github.com/topoteretes/cognee/issues/1061',
    wording:
      'This endpoint\'s maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
    expected: LONG(94307, 16384),
  },
  {
    vendor: 'an OpenAI-compatible server that names the sum alone',
    source: 'https://github.com/THUDM/LongBench/issues/104',
    wording:
      "This model's maximum context length is 131072 tokens. However, you requested 151430 tokens. Please reduce the length of the messages or completion.",
    expected: BOTH(119430, 32000, 131072),
  },
  {
    vendor: 'Baseten, and OpenRouter before it',
    source: 'https://github.com/anomalyco/models.dev/pull/3376',
    wording: 'Input length 202935 exceeds the maximum allowed input length of 202720 tokens.',
    expected: LONG(202935, 202720),
  },
  {
    vendor: 'vLLM',
    source: 'https://github.com/stepfun-ai/Step-Audio-R1/issues/3',
    wording:
      "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 40960 tokens and your request has 12115 input tokens (32000 > 40960 - 12115). None",
    expected: BOTH(12115, 32000, 40960),
  },
  {
    vendor: 'vLLM of 2026, which counts no further than it has to',
    source: 'https://github.com/AIDotNet/OpenCowork/issues/82',
    wording:
      "This model's maximum context length is 131072 tokens. However, you requested 128000 output tokens and your prompt contains at least 3073 input tokens, for a total of at least 131073 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=3073)",
    expected: BOTH(12000, 128000, 131072),
  },
  {
    vendor: 'vLLM of 2026, whose prompt alone is too long',
    source: 'https://github.com/vllm-project/vllm/blob/main/vllm/renderers/params.py',
    wording:
      "This model's maximum context length is 32768 tokens. However, you requested 0 output tokens and your prompt contains at least 32769 input tokens, for a total of at least 32769 tokens.",
    expected: LONG(32769, 32768),
  },
  {
    vendor: 'vLLM, input alone',
    source: 'https://github.com/vllm-project/vllm/issues/20409',
    wording:
      "This model's maximum context length is 65536 tokens. However, your request has 93196 input tokens. Please reduce the length of the input messages. (parameter=input_tokens, value=93196)",
    expected: LONG(93196, 65536),
  },
  {
    vendor: 'vLLM, older',
    source: 'https://github.com/vllm-project/vllm/issues/12165',
    wording:
      'The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
    expected: PLAIN,
  },
  {
    vendor: 'vLLM, decoder',
    source: CLAUDE_CODE,
    wording:
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    expected: PLAIN,
  },
  {
    vendor: 'SGLang, input and output',
    source:
      'https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/tokenizer_manager.py',
    wording:
      "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 70000 tokens: 6000 tokens from the input messages and 64000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
    expected: BOTH(6000, 64000, 32768),
  },
  {
    vendor: 'SGLang, without figures',
    source:
      'https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/tokenizer_manager.py',
    wording: "Requested token count exceeds the model's maximum context length of 40960 tokens.",
    expected: BOTH(12000, 32000, 40960),
  },
  {
    vendor: 'SGLang and Together, input alone',
    source:
      'https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/tokenizer_manager.py',
    wording: "The input (140000 tokens) is longer than the model's context length (131072 tokens).",
    expected: LONG(140000, 131072),
  },
  {
    vendor: 'SGLang, multimodal',
    source: PI,
    wording: "Input length (265330) exceeds model's maximum context length (262144).",
    expected: LONG(265330, 262144),
  },
  {
    vendor: 'Together and Text Generation Inference',
    source: 'https://github.com/BerriAI/litellm/issues/4934',
    wording:
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769. Given: 8012 `inputs` tokens and 32000 `max_new_tokens`',
    expected: BOTH(8012, 32000, 32769),
  },
  {
    vendor: 'Together, whose input alone is too long',
    source: 'https://github.com/BerriAI/litellm/issues/4934',
    wording:
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens and 4096 `max_new_tokens`',
    expected: LONG(80125, 4097),
  },
  {
    vendor: 'Text Generation Inference, input alone',
    source: 'https://github.com/stanford-crfm/helm/issues/1820',
    wording: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1244',
    expected: PLAIN,
  },
  {
    vendor: 'Kimi, which counts both',
    source: 'https://platform.moonshot.cn/docs/guide/faq',
    wording: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)',
    expected: LONG(291351, 262144),
  },
  {
    vendor: 'Kimi, with room',
    source: 'https://platform.moonshot.cn/docs/guide/faq',
    wording: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 271351)',
    expected: BOTH(239351, 32000, 262144),
  },
  {
    vendor: 'Kimi, older',
    source: 'https://platform.moonshot.cn/docs/guide/faq',
    wording: 'Invalid request: Your request exceeded model token limit: 32768',
    expected: BOTH(12000, 32000, 32768),
  },
  {
    vendor: 'MiniMax',
    source: 'https://github.com/MiniMax-AI/MiniMax-M2/issues/119',
    wording: 'invalid params, context window exceeds limit (2013)',
    expected: PLAIN,
  },
  {
    vendor: 'Gemini',
    source: 'https://github.com/google-gemini/gemini-cli/issues/4692',
    wording:
      'The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).',
    expected: LONG(2845475, 1048576),
  },
  {
    vendor: 'Groq',
    source: PI,
    wording: 'Please reduce the length of the messages or completion.',
    expected: PLAIN,
  },
  {
    vendor: 'Fireworks',
    source: 'https://github.com/fw-ai/cookbook/issues/134',
    wording: 'The prompt is too long: 40177, model maximum context length: 32767',
    expected: LONG(40177, 32767),
  },
  {
    vendor: 'xAI',
    source: PI,
    wording: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    expected: LONG(537812, 131072),
  },
  {
    vendor: 'Mistral',
    source: PI,
    wording:
      'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    expected: LONG(140000, 131072),
  },
  {
    vendor: 'NVIDIA',
    source: EARLIER,
    wording: 'context length exceeded',
    expected: PLAIN,
  },
  {
    vendor: 'llama.cpp',
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-context.cpp',
    wording:
      'request (66000 tokens) exceeds the available context size (65536 tokens), try increasing it',
    expected: LONG(66000, 65536),
  },
  {
    vendor: 'llama.cpp, older',
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-context.cpp',
    wording: 'the request exceeds the available context size, try increasing it',
    expected: PLAIN,
  },
  {
    vendor: 'llama.cpp without context shift',
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-context.cpp',
    wording: 'input (70000 tokens) is larger than the max context size (65536 tokens). skipping',
    expected: LONG(70000, 65536),
  },
  {
    vendor: 'llama.cpp while it writes',
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-context.cpp',
    wording: 'Context size has been exceeded.',
    expected: PLAIN,
  },
  {
    vendor: 'LM Studio',
    source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/546',
    wording:
      'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.',
    expected: LONG(111490, 32768),
  },
  {
    vendor: 'LM Studio of 2026',
    source: 'https://github.com/anomalyco/opencode/issues/11141',
    wording: 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)',
    expected: LONG(15028, 7424),
  },
  {
    vendor: 'LM Studio, MLX',
    source: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2256',
    wording:
      'The number of tokens to keep from the initial prompt is greater than the context length.',
    expected: PLAIN,
  },
  {
    vendor: 'Ollama',
    source: PI,
    wording: 'prompt too long; exceeded max context length by 1234 tokens',
    expected: PLAIN,
  },
  {
    vendor: 'Alibaba',
    source: 'https://github.com/QwenLM/qwen-code/issues/98',
    wording:
      '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]',
    expected: PLAIN,
  },
  {
    vendor: 'Zhipu',
    source: CLAUDE_CODE,
    wording: 'Prompt exceeds max length',
    expected: PLAIN,
  },
  ...[
    'Input token length too long',
    'Tokens in request more than max tokens allowed',
    'This exceeds the maximum context limit of the model',
    'The context exceeds your deployment',
  ].map((wording) => ({
    vendor: `somebody: ${wording}`,
    source: CLAUDE_CODE,
    wording,
    expected: PLAIN,
  })),
  {
    vendor: 'DwarfStar',
    source: PI,
    wording: 'Prompt has 256468 tokens, but the configured context size is 256000 tokens',
    expected: PLAIN,
  },
  {
    vendor: 'Copilot',
    source: PI,
    wording: 'prompt token count of 140000 exceeds the limit of 128000',
    expected: PLAIN,
  },
]

/**
 * Similar messages for other mistakes: https://platform.claude.com/docs/en/api/errors and vendors'
 * own.
 */
const OTHERS = [
  'max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for claude-opus-5',
  'max_tokens is too large: 64000. This model supports at most 16384 completion tokens, whereas you provided 64000.',
  'max_tokens exceeds the limit of 8192',
  'Range of max_tokens should be [1, 8192]',
  'messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
  "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576, but got a string with length 2000000 instead.",
  'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
]

const saying = (message: string) => ({ message })

describe('a full context', () => {
  test.each(WORDINGS)('is recognised by the words of $vendor', ({ wording }) => {
    expect(isContextFull(400, saying(wording))).toBe(true)
    expect(isContextFull(400, saying(wording.toUpperCase()))).toBe(true)
  })

  test.each(OTHERS)('is not: %s', (wording) => {
    expect(isContextFull(400, saying(wording))).toBe(false)
  })

  test.each(['context_length_exceeded', 'exceed_context_size_error'])(
    'is recognised by %s, as a code or as a type, whatever the text says',
    (word) => {
      expect(isContextFull(400, { code: word, message: 'no' })).toBe(true)
      expect(isContextFull(400, { type: word, message: 'no' })).toBe(true)
    },
  )

  test.each([
    [399, false],
    [400, true],
    [413, true],
    [429, false],
    [499, true],
    [500, false],
  ])('at status %i: %p, since a limit of rates or a fault is another thing', (status, isFull) => {
    expect(isContextFull(status, saying('prompt is too long'))).toBe(isFull)
    expect(isContextFull(status, { code: 'context_length_exceeded', message: '' })).toBe(isFull)
  })

  test.each([
    [{}],
    [{ code: '', type: '', message: '' }],
    [{ code: null, message: 'max_tokens must be at least 1' }],
    [{ code: 'invalid_request_error', message: 'the prompt is empty' }],
  ])('is not %j', (answer) => {
    expect(isContextFull(400, answer as Parameters<typeof isContextFull>[1])).toBe(false)
  })

  test('is not looked for behind 2,000 characters, where an error may repeat the request', () => {
    const words = 'prompt is too long'
    const room = 2_000 - words.length
    expect(isContextFull(400, saying(' '.repeat(room) + words))).toBe(true)
    expect(isContextFull(400, saying(` ${' '.repeat(room)}${words}`))).toBe(false)
  })
})

describe('its text', () => {
  const messageFor = (message: string, asked = ASKED) =>
    toContextMessage(message, 'messages', asked)

  test.each(WORDINGS)('tells clients of Messages what helps: $vendor', ({ wording, expected }) => {
    expect(messageFor(wording).slice(0, expected.length)).toBe(expected)
  })

  test.each(WORDINGS)('stays in every other dialect: $vendor', ({ wording }) => {
    expect(toContextMessage(wording, 'nested', ASKED)).toBe(wording)
  })

  test('keeps the vendor’s words where the conversation is too long', () => {
    expect(messageFor('context length exceeded')).toBe(
      'prompt is too long: context length exceeded',
    )
    const wording = "The input (9 tokens) is longer than the model's context length (8 tokens)."
    expect(messageFor(wording)).toBe(`prompt is too long: 9 tokens > 8 maximum (${wording})`)
  })

  test.each(['prompt is too long: 3 > 2', 'input and max_tokens exceed context limit: 2 + 2 > 3'])(
    'stays where those clients recognise it: %s',
    (message) => expect(messageFor(message)).toBe(message),
  )

  test.each([
    [27_000, BOTH(27_000, 9_000, 32_768)],
    [28_768, BOTH(28_768, 9_000, 32_768)],
    [28_769, LONG(37_769, 32_768)],
    [32_768, LONG(41_768, 32_768)],
    [32_769, LONG(32_769, 32_768)],
  ])(
    'asks for a shorter conversation where too little room for an answer is left: %i',
    (input, expected) => {
      const wording = `maximum context length is 32768 tokens. However, you requested ${input + 9_000} tokens (${input} in the messages, 9,000 in the completion).`
      expect(messageFor(wording).slice(0, expected.length)).toBe(expected)
    },
  )

  test('never makes a count that the server broke off a conversation that is too long', () => {
    const wording =
      "This model's maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens"
    const asked = { inputTokens: 90_000, outputTokens: 32_000 }
    expect(messageFor(wording, asked)).toBe(BOTH(28_768, 32_000, 32_768))
  })

  test('takes no estimate where the server counted', () => {
    const asked = {
      get inputTokens(): number {
        throw new Error('estimated')
      },
      outputTokens: 32_000,
    }
    const wording =
      "too large: 32000. This model's maximum context length is 40960 tokens and your request has 12115 input tokens"
    expect(messageFor(wording, asked)).toBe(BOTH(12115, 32000, 40960))
  })
})

test('the status is Anthropic’s for its clients, and the vendor’s for others', () => {
  expect(toContextStatus(413, 'messages')).toBe(400)
  expect(toContextStatus(413, 'nested')).toBe(413)
})

describe('its body', () => {
  const answerOf = (json: { readonly error: Readonly<Record<string, unknown>> }) => {
    const answer = { json, message: json.error.message } as UpstreamErrorAnswer
    return { bytes: Buffer.from(JSON.stringify(json, null, 1)), answer }
  }
  const bodyOf = (
    envelope: 'messages' | 'nested',
    { bytes, answer }: ReturnType<typeof answerOf>,
  ) => {
    const contextMessage = toContextMessage(answer.message ?? 'no message', envelope, ASKED)
    return toContextBody(bytes, answer, { envelope, contextMessage })
  }
  const parsed = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString('utf8')) as unknown

  test('gets the code that clients of OpenAI look for, and keeps everything else', () => {
    const error = { message: 'maximum context length', type: 'too_long', param: 'messages' }
    const shown = bodyOf('nested', answerOf({ error: { ...error, code: null } }))
    expect(parsed(shown)).toEqual({ error: { ...error, code: 'context_length_exceeded' } })
  })

  test('is the upstream’s own bytes where the code is there', () => {
    const answer = answerOf({ error: { message: 'full', code: 'context_length_exceeded' } })
    expect(bodyOf('nested', answer)).toBe(answer.bytes)
  })

  test('gets the text that clients of Messages look for, and keeps everything else', () => {
    const json = { type: 'error', request_id: 'req_1', error: { type: 'x', message: 'full' } }
    expect(parsed(bodyOf('messages', answerOf(json)))).toEqual({
      ...json,
      error: { type: 'x', message: 'prompt is too long: full' },
    })
  })

  test('is the upstream’s own bytes where the text is there', () => {
    const answer = answerOf({ error: { type: 'x', message: 'prompt is too long: 3 > 2' } })
    expect(bodyOf('messages', answer)).toBe(answer.bytes)
  })

  test('without a message gets a standard one', () => {
    const answer = { json: { error: { type: 'x' } } } as UpstreamErrorAnswer
    const contextMessage = 'prompt is too long: no message'
    expect(
      parsed(toContextBody(Buffer.from('{}'), answer, { envelope: 'messages', contextMessage })),
    ).toEqual({
      error: { type: 'x', message: 'prompt is too long: no message' },
    })
  })
})
