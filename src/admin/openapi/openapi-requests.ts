/**
 * The data plane's request bodies for OpenAPI readers, as far as the gateway itself reads them.
 * Documentation only: wire/ decides which members are accepted and forwarded.
 */
import { z } from 'zod'
import { FINISH_REASONS, TOOL_CHOICES } from '../../core/chat-words.ts'
import { COST_STATUSES } from '../../core/cost.ts'

const gate = z.string().min(1).meta({ description: 'Id of a gate.', example: 'demo' })
const gateId = gate.nullish()
const model = gate.nullish().meta({
  description:
    'Id of a gate, where there is no `gate_id`. Beside one it says nothing, unless the gate ' +
    'allows overrides.',
})
const stream = z.boolean().nullish().meta({ description: 'Answer as server-sent events.' })
const open = z.looseObject({})
const tools = z.array(open).nullish()
const text = z.string()
const stop = z.union([text, z.array(text)]).nullish()
const messages = z.array(z.looseObject({ role: text })).min(1)

/** A target of another format gets these members too, translated. */
const sampling = {
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
}
const penalties = {
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
}

export const responsesRequest = z
  .looseObject({
    model: gate,
    input: z.union([text, z.array(open)]).meta({
      description:
        'A prompt, or whole items: `message`, `function_call`, ' +
        '`function_call_output`, `reasoning`. ' +
        'An `item_reference` is refused: nothing is stored.',
    }),
    instructions: text.nullish(),
    tools,
    tool_choice: z.union([text, open]).nullish(),
    max_output_tokens: z.number().nullish(),
    reasoning: z.looseObject({ effort: text.nullish() }).nullish(),
    include: z.array(text).nullish().meta({
      description: '`reasoning.encrypted_content` is added for models that reason.',
    }),
    ...sampling,
    stream,
    store: z
      .literal(false)
      .nullish()
      .meta({ description: 'Nothing is stored here: `true` is refused.' }),
    background: z.literal(false).nullish().meta({ description: '`true` is refused.' }),
    previous_response_id: z
      .null()
      .optional()
      .meta({ description: 'This is refused: send whole items in `input`.' }),
    conversation: z
      .null()
      .optional()
      .meta({ description: 'This is refused: send whole items in `input`.' }),
    prompt: z.null().optional().meta({ description: 'Stored prompts are refused: send the text.' }),
  })
  .meta({
    id: 'ResponsesRequest',
    description: "OpenAI's Responses format; other members pass through.",
  })

export const chatRequest = z
  .looseObject({
    gate_id: gateId,
    model,
    messages,
    stream,
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    max_completion_tokens: z.number().nullish(),
    max_tokens: z.number().nullish(),
    ...sampling,
    ...penalties,
    top_k: z.number().nullish(),
    stop,
    seed: z.number().nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.number().nullish(),
    tools,
    tool_choice: z.union([text, open]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    response_format: z.looseObject({ type: text }).nullish(),
    reasoning_effort: text.nullish(),
    user: text.nullish(),
    safety_identifier: text.nullish(),
    metadata: open.nullish(),
    service_tier: text.nullish(),
    prompt_cache_key: text.nullish(),
  })
  .meta({
    id: 'ChatRequest',
    description: "OpenAI's Chat Completions format; other members pass through.",
  })

const messagesFields = {
  gate_id: gateId,
  model,
  messages,
  system: z.union([text, z.array(open)]).nullish(),
  tools,
  tool_choice: z.looseObject({ type: text }).nullish(),
  thinking: z.looseObject({ type: text }).nullish(),
}

export const messagesRequest = z
  .looseObject({
    ...messagesFields,
    max_tokens: z.number(),
    stream,
    ...sampling,
    top_k: z.number().nullish(),
    stop_sequences: z.array(text).nullish(),
    output_config: open.nullish(),
    metadata: z.looseObject({ user_id: text.nullish() }).nullish(),
    service_tier: text.nullish(),
  })
  .meta({
    id: 'MessagesRequest',
    description: "Anthropic's Messages format; other members pass through.",
  })

export const countTokensRequest = z
  .looseObject(messagesFields)
  .meta({ id: 'CountTokensRequest', description: "Anthropic's token counting format." })

export const embeddingsRequest = z
  .looseObject({
    gate_id: gateId,
    model,
    input: z.union([text, z.array(z.union([text, z.int(), z.array(z.int())]))]),
    dimensions: z.number().nullish(),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    user: text.nullish(),
  })
  .meta({
    id: 'EmbeddingsRequest',
    description: "OpenAI's embeddings format; other members pass through.",
  })

const altFields = {
  gate_id: gateId,
  model,
  ...sampling,
  max_tokens: z.number().nullish(),
  stream,
  stop,
  random_seed: z.number().nullish(),
  metadata: open.nullish(),
  prompt_cache_key: text.nullish(),
}
const LEFT_OUT = 'An unlisted member is omitted and named in `x-gatehouse-ignored`.'

export const fimRequest = z
  .looseObject({
    ...altFields,
    prompt: text.meta({ description: 'Code before the cursor.' }),
    suffix: text.nullish().meta({ description: 'Code after the cursor.' }),
    min_tokens: z.number().nullish().meta({ description: 'Accepted, without effect.' }),
  })
  .meta({ id: 'FimRequest', description: `Mistral's fill-in-the-middle format. ${LEFT_OUT}` })

export const altChatRequest = z
  .looseObject({
    ...altFields,
    messages,
    ...penalties,
    n: z.number().nullish(),
    tools,
    tool_choice: z.union([text, open]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    response_format: z.looseObject({ type: text }).nullish(),
    prediction: open.nullish(),
    reasoning_effort: text.nullish(),
    prompt_mode: text.nullish(),
    guardrails: z.array(open).nullish(),
    service_tier: text.nullish(),
    safe_prompt: z.boolean().nullish(),
  })
  .meta({ id: 'AltChatRequest', description: `Mistral's chat format. ${LEFT_OUT}` })

const source = {
  url: text.optional().meta({ description: 'An http(s) address; alternatively send `data`.' }),
  data: text.optional().meta({ description: 'The bytes as base64, with `media_type`.' }),
  media_type: text.optional(),
}
const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text }),
  z.strictObject({ type: z.literal('image'), ...source, detail: text.optional() }),
  z.strictObject({ type: z.literal('file'), ...source, filename: text.optional() }),
])
const content = z.union([text, z.array(part)])
const toolCall = z.strictObject({
  id: text.meta({
    description:
      'The id of the tool call. Send the id back unchanged: it may contain encrypted reasoning and be long.',
  }),
  name: text,
  arguments: text.meta({ description: 'JSON text.' }),
})
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content }),
  z.strictObject({ role: z.literal('user'), content }),
  z.strictObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    tool_calls: z.array(toolCall).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: text, content }),
])

/**
 * Describes `/v3/chat` for OpenAPI readers. Documentation only: wire/gatehouse-chat/ decides what
 * is accepted.
 */
export const gatehouseChatRequest = z
  .strictObject({
    gate_id: text.meta({ description: 'Id of a gate.', example: 'demo' }),
    messages: z.array(message),
    vars: z.record(text, z.union([text, z.number(), z.boolean()])).optional(),
    instructions: text.optional().meta({
      description: 'The first system message; each `{{name}}` in it is replaced by `vars.name`.',
    }),
    tools: z
      .array(
        z.strictObject({
          name: text,
          description: text.optional(),
          parameters: z
            .looseObject({})
            .optional()
            .meta({ description: 'A JSON Schema for an object.' }),
          strict: z.boolean().optional(),
        }),
      )
      .optional(),
    tool_choice: z.union([z.enum(TOOL_CHOICES), z.strictObject({ name: text })]).optional(),
    response_format: z
      .discriminatedUnion('type', [
        z.strictObject({ type: z.literal('text') }),
        z.strictObject({ type: z.literal('json') }),
        z.strictObject({
          type: z.literal('json_schema'),
          schema: z.looseObject({}),
          name: text.optional(),
          description: text.optional(),
          strict: z.boolean().optional(),
        }),
      ])
      .optional(),
    temperature: z.number().optional(),
    top_p: z.number().optional(),
    max_output_tokens: z.int().min(1).optional(),
    stop: z.union([text, z.array(text)]).optional(),
    reasoning: z.strictObject({ effort: text.optional() }).optional(),
    stream: z.boolean().optional(),
    metadata: z.looseObject({}).optional(),
  })
  .meta({ id: 'GatehouseChatRequest' })

export const gatehouseChatAnswer = z
  .object({
    id: text.meta({ description: 'The id of the call and of its row in the log.' }),
    object: z.literal('chat'),
    created_at: z.int().meta({ description: 'Seconds since the Unix epoch.' }),
    gate_id: text,
    model: text.meta({ description: 'The target that answered, as `provider/model`.' }),
    content: text,
    reasoning: text.optional(),
    tool_calls: z.array(toolCall).optional(),
    finish_reason: z.enum(FINISH_REASONS),
    usage: z
      .object({
        input_tokens: z.int(),
        output_tokens: z.int(),
        cached_input_tokens: z.int(),
        reasoning_tokens: z.int(),
      })
      .nullable()
      .meta({ description: 'The usage of the call; null if the provider reported none.' }),
    cost: z.object({ usd: z.number().nullable(), status: z.enum(COST_STATUSES) }).meta({
      description:
        'The cost as in the log; `unknown` if the model has no price or no usage was reported.',
    }),
    latency_ms: z.int(),
    attempts: z.array(
      z.object({
        target: text,
        status: z.int().nullable().meta({
          description: 'The HTTP status of the target; null if the target did not answer.',
        }),
        ms: z.int(),
      }),
    ),
  })
  .meta({ id: 'GatehouseChatAnswer' })
