import { z } from 'zod'

const text = z.string()
const count = z.int().min(0)
const open = z.looseObject({})
const at = z.number().meta({ description: 'Seconds since the Unix epoch.' })
const upstreamModel = text.meta({ description: "The provider's own name of the model." })

export const responseAnswer = z
  .looseObject({
    id: text,
    object: z.literal('response'),
    created_at: at,
    status: text.meta({ description: '`completed`, `incomplete`, `failed` …' }),
    model: upstreamModel,
    output: z.array(z.looseObject({ type: text })),
    usage: z
      .looseObject({ input_tokens: count, output_tokens: count, total_tokens: count })
      .nullish(),
  })
  .meta({ id: 'Response', description: "A response in OpenAI's format, as the provider sent it." })

const chatUsage = z
  .looseObject({ prompt_tokens: count, completion_tokens: count.optional(), total_tokens: count })
  .nullish()

export const chatAnswer = z
  .looseObject({
    id: text,
    object: z.literal('chat.completion'),
    created: at,
    model: upstreamModel,
    choices: z.array(
      z.looseObject({
        index: count,
        message: z.looseObject({ role: text, content: z.union([text, z.array(open)]).nullish() }),
        finish_reason: text.nullable(),
      }),
    ),
    usage: chatUsage,
  })
  .meta({ id: 'ChatCompletion', description: 'A chat completion, also of fill-in-the-middle.' })

export const messageAnswer = z
  .looseObject({
    id: text,
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: upstreamModel,
    content: z.array(z.looseObject({ type: text })),
    stop_reason: text.nullable(),
    usage: z.looseObject({ input_tokens: count, output_tokens: count }),
  })
  .meta({ id: 'Message', description: "A message in Anthropic's format." })

export const tokenCount = z.looseObject({ input_tokens: count }).meta({ id: 'TokenCount' })

export const embeddingsAnswer = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: count,
        embedding: z
          .union([z.array(z.number()), text])
          .meta({ description: 'Text with `base64`.' }),
      }),
    ),
    model: upstreamModel,
    usage: chatUsage,
  })
  .meta({ id: 'Embeddings', description: "A list of embeddings in OpenAI's format." })

const modalities = z.array(text).optional()

const modelAnswer = z
  .object({
    id: text,
    object: z.literal('model'),
    created: at,
    owned_by: text,
    name: text,
    description: text.optional(),
    context_length: z.int().optional(),
    max_output_tokens: z.int().optional(),
    input_modalities: modalities,
    output_modalities: modalities,
    architecture: z
      .object({ input_modalities: modalities, output_modalities: modalities })
      .optional(),
    top_provider: z
      .object({
        context_length: z.int().optional(),
        max_completion_tokens: z.int().optional(),
      })
      .optional(),
    pricing: z
      .object({ prompt: text, completion: text, input_cache_read: text })
      .optional()
      .meta({ description: 'US dollars per token. Absent when targets have different prices.' }),
  })
  .meta({
    id: 'Model',
    description:
      "A gate, as OpenAI's API describes a model, with OpenRouter's members. An unknown fact is " +
      'absent.',
  })

const modelList = z
  .object({
    object: z.literal('list'),
    data: z.array(modelAnswer),
    models: z
      .array(z.looseObject({ slug: text, base_instructions: text }))
      .optional()
      .meta({ description: 'With `client_version`: the gates with `codexInstructions`.' }),
  })
  .meta({ id: 'ModelList', description: "The account's gates, in OpenAI's format." })

const messagesModel = z
  .looseObject({
    type: z.literal('model'),
    id: text,
    display_name: text,
    created_at: text,
    max_input_tokens: z.int().nullable(),
    max_tokens: z.int().nullable(),
    capabilities: z
      .looseObject({})
      .nullable()
      .meta({
        description:
          'Null when modalities or efforts are not known. `supported: false` also stands where it ' +
          'is not known.',
      }),
  })
  .meta({ id: 'MessagesModel', description: "A gate, as Anthropic's API describes a model." })

/** Selected by the header that only Anthropic's clients send. */
export const eitherModel = z.union([modelAnswer, messagesModel])

export const eitherModelList = z.union([
  modelList,
  z
    .object({
      data: z.array(messagesModel),
      has_more: z.boolean(),
      first_id: text.nullable(),
      last_id: text.nullable(),
    })
    .meta({ id: 'MessagesModelList', description: "The account's gates, in Anthropic's format." }),
])

export const altModel = z
  .looseObject({
    id: text,
    object: z.literal('model'),
    created: at,
    owned_by: text,
    aliases: z.array(text),
    max_context_length: z.int().optional(),
    capabilities: z.looseObject({ completion_chat: z.boolean(), completion_fim: z.boolean() }),
  })
  .meta({ id: 'AltModel', description: "A gate, as Mistral's API describes a model." })

export const altModelList = z
  .object({ object: z.literal('list'), data: z.array(altModel) })
  .meta({ id: 'AltModelList', description: "The account's gates, in Mistral's format." })

export const altErrorBody = z
  .looseObject({
    error: text.meta({ example: 'invalid_request' }),
    message: text,
    details: z.unknown().optional(),
    object: z.literal('error'),
    type: text.meta({ example: 'invalid_request_error' }),
    param: text.nullable(),
    code: text.nullable(),
  })
  .meta({
    id: 'AltError',
    description: "The flat envelope, with what Mistral's clients parse beside it.",
  })

export const nestedErrorBody = z
  .looseObject({
    error: z.looseObject({
      message: text,
      type: text.meta({ example: 'invalid_request_error' }),
      param: text.nullish(),
      code: z.union([text, z.number()]).nullish(),
    }),
  })
  .meta({
    id: 'NestedError',
    description:
      "The error envelope that the OpenAI SDKs read. Where the provider speaks the caller's " +
      'format, its own error is passed on.',
  })

export const messagesErrorBody = z
  .looseObject({
    type: z.literal('error'),
    error: z.looseObject({
      type: text.meta({ example: 'invalid_request_error' }),
      message: text,
      details: z.unknown().optional(),
    }),
  })
  .meta({ id: 'MessagesError', description: 'The error envelope that the Anthropic SDKs read.' })
