/** What the decoder of Chat Completions requests reads below the top level. */
import { choice, listOf, object, type Shape } from '../unread-members.ts'

const CACHED = { cache_control: object(['type', 'ttl']) }
const TEXT = object(['type', 'text'], CACHED)

const USER_PARTS = listOf(
  choice('type', {
    text: TEXT,
    image_url: object(['type'], { image_url: object(['url', 'detail']), ...CACHED }),
    input_audio: object(['type'], { input_audio: object(['data', 'format']) }),
    // `file_id` is named by the decoder.
    file: object(['type'], { file: object(['file_data', 'filename', 'file_id']), ...CACHED }),
  }),
)

const INSTRUCTIONS = object(['role'], { content: listOf(TEXT) })

const CALL = object(
  // The index stands in a stream's pieces, and stays where a client puts these together.
  ['type', 'id', 'index'],
  {
    function: object(['name', 'arguments']),
    extra_content: object([], { google: object(['thought_signature']) }),
  },
)

const ASSISTANT = object(
  // Reasoning that no target can read is named by the decoder.
  ['role', 'name', 'refusal', 'reasoning', 'reasoning_content', 'reasoning_details'],
  {
    content: listOf(choice('type', { text: TEXT, refusal: object(['type', 'refusal']) })),
    tool_calls: listOf(
      // Without a type it is a function. Others are named by the decoder.
      choice('type', { function: CALL }, CALL),
    ),
  },
)

export const CHAT_SHAPES: Readonly<Record<string, Shape>> = {
  messages: listOf(
    choice('role', {
      system: INSTRUCTIONS,
      developer: INSTRUCTIONS,
      user: object(['role', 'name'], { content: USER_PARTS }),
      assistant: ASSISTANT,
      // The name of the tool stands in its call too.
      tool: object(['role', 'tool_call_id', 'name'], { content: USER_PARTS }),
    }),
  ),
  tools: listOf(
    choice('type', {
      function: object(['type'], {
        function: object(['name', 'description', 'parameters', 'strict']),
      }),
    }),
  ),
  tool_choice: choice('type', { function: object(['type'], { function: object(['name']) }) }),
  response_format: choice('type', {
    text: object(['type']),
    json_object: object(['type']),
    json_schema: object(['type'], {
      json_schema: object(['name', 'description', 'schema', 'strict']),
    }),
  }),
  stream_options: object(['include_usage']),
}
