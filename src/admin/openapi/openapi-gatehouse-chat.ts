/**
 * Describes `/v3/chat` for OpenAPI readers. Documentation only: what is taken is decided in
 * wire/gatehouse-chat/.
 */
import { z } from 'zod'
import { FINISH_REASONS, TOOL_CHOICES } from '../../core/chat-words.ts'
import { COST_STATUSES } from '../../core/cost.ts'

const text = z.string()
const source = {
  url: text.optional().meta({ description: 'An http(s) address; or else `data`.' }),
  data: text.optional().meta({ description: 'The bytes as base64, beside `media_type`.' }),
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
    description: 'Send it back as it is: it may carry sealed reasoning, and be long.',
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
            .meta({ description: 'A JSON Schema of an object.' }),
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
    id: text.meta({ description: "The call's id, and its log row's." }),
    object: z.literal('chat'),
    created_at: z.int().meta({ description: 'Seconds since the Unix epoch.' }),
    gate_id: text,
    model: text.meta({ description: '`provider/model` that answered.' }),
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
      .meta({ description: 'Null where the provider reported none.' }),
    cost: z.object({ usd: z.number().nullable(), status: z.enum(COST_STATUSES) }).meta({
      description: 'As in the log. Unknown where there is no price, or no usage was reported.',
    }),
    latency_ms: z.int(),
    attempts: z.array(
      z.object({
        target: text,
        status: z.int().nullable().meta({ description: 'Null where no answer came.' }),
        ms: z.int(),
      }),
    ),
  })
  .meta({ id: 'GatehouseChatAnswer' })
