/**
 * Upstream answers of each dialect, with odd spacing, large numbers and unknown members, so that
 * parsing and printing them again changes the bytes. Shapes are the vendors'.
 */

export const RESPONSES_JSON = `{ "id":"resp_1","object": "response", "created_at":1767225600,"status":"completed","model":"gpt-5-2025-08-07",
 "output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA\\u0042=="},{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"caf\\u00e9 \u{1F600} \\/","annotations":[]}]}],
 "usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":3},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":18},"store":false,"x_big":12345678901234567890,"x_float":1.50 }
`

export const RESPONSES_USAGE = {
  inputTokens: 11,
  outputTokens: 7,
  cachedInputTokens: 3,
  reasoningTokens: 2,
}

const responseObject = (status: string, usage: string): string =>
  `{"id":"resp_1","object":"response","created_at":1767225600,"status":"${status}","model":"gpt-5","output":[],"usage":${usage}}`

export const RESPONSES_STREAM: readonly string[] = [
  `event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":${responseObject('in_progress', 'null')}}\n\n`,
  'event: response.unheard_of\ndata: {"type":"response.unheard_of","sequence_number":1,"big":12345678901234567890}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"h\\u00e9 \u{1F600}","obfuscation":"x9"}\n\n',
  `event: response.completed\ndata: {"type":"response.completed","sequence_number":3,"response":${responseObject('completed', '{"input_tokens":11,"input_tokens_details":{"cached_tokens":3},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":18}')}}\n\n`,
]

export const CHAT_JSON = `{"id":"chatcmpl-1", "object":"chat.completion","created":1767225600,"model":"gpt-4o-2024-08-06",
  "choices":[ {"index":0,"message":{"role":"assistant","content":"caf\\u00e9 \u{1F600}","refusal":null},"logprobs":null,"finish_reason":"stop"}],
  "usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}},"x_big":12345678901234567890}`

const chatChunk = (choices: string, tail = ''): string =>
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"gpt-4o","x_big":12345678901234567890,"choices":${choices}${tail}}\n\n`

const CHAT_CHOICES = [
  '[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}]',
  '[{"index":0,"delta":{"content":"h\\u00e9 \u{1F600}"},"finish_reason":null}]',
  '[{"index":0,"delta":{},"finish_reason":"stop"}]',
]

const CHAT_USAGE_JSON =
  '{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":2}}'

/** As OpenAI streams to a client that did not ask for usage. */
export const CHAT_STREAM: readonly string[] = [
  ...CHAT_CHOICES.map((choices) => chatChunk(choices)),
  'data: [DONE]\n\n',
]

/** As OpenAI streams with `stream_options.include_usage`. */
export const CHAT_STREAM_WITH_USAGE: readonly string[] = [
  ...CHAT_CHOICES.map((choices) => chatChunk(choices, ',"usage":null')),
  chatChunk('[]', `,"usage":${CHAT_USAGE_JSON}`),
  'data: [DONE]\n\n',
]

export const FIM_JSON = `{"id":"cmpl-1","object":"chat.completion", "model":"codestral-latest","created":1767225600,
 "usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18},"choices":[{"index":0,"message":{"role":"assistant","content":"return caf\\u00e9 \u{1F600}","tool_calls":null,"prefix":false},"finish_reason":"stop"}],"x_big":12345678901234567890}`

export const FIM_USAGE = {
  inputTokens: 11,
  outputTokens: 7,
  cachedInputTokens: 0,
  reasoningTokens: 0,
}

const fimChunk = (delta: string, finish: string, tail = ''): string =>
  `data: {"id":"cmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"codestral-latest","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]${tail}}\n\n`

export const FIM_STREAM: readonly string[] = [
  fimChunk('{"role":"assistant","content":""}', 'null'),
  fimChunk('{"content":"retu\\u0072n \u{1F600}"}', 'null'),
  fimChunk(
    '{"content":""}',
    '"stop"',
    ',"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}',
  ),
  'data: [DONE]\n\n',
]

export const MESSAGES_JSON = `{"id":"msg_1", "type":"message","role":"assistant","model":"claude-opus-5-1","content":[{"type":"thinking","thinking":"hm \\u00e9","signature":"c2ln"},{"type":"text","text":"caf\\u00e9 \u{1F600}"}],
 "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":8,"cache_read_input_tokens":3,"output_tokens":7},"x_big":12345678901234567890}`

export const MESSAGES_USAGE = {
  inputTokens: 11,
  outputTokens: 7,
  cachedInputTokens: 3,
  reasoningTokens: 0,
}

const messagesEvent = (type: string, members: string): string =>
  `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`

export const MESSAGES_STREAM: readonly string[] = [
  messagesEvent(
    'message_start',
    '"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":8,"cache_read_input_tokens":3,"output_tokens":1},"x_big":12345678901234567890}',
  ),
  messagesEvent(
    'content_block_start',
    '"index":0,"content_block":{"type":"text","text":""}, "x_unheard":"message_stop"',
  ),
  messagesEvent(
    'content_block_delta',
    '"index":0,"delta":{"type":"text_delta","text":"h\\u00e9 \u{1F600}"}',
  ),
  messagesEvent('content_block_stop', '"index":0'),
  messagesEvent(
    'message_delta',
    '"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}',
  ),
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
]
