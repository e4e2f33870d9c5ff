/** What the decoder of Messages requests reads below the top level. */
import { choice, listOf, object, type Shape } from '../unread-members.ts'

const CACHED = { cache_control: object(['type', 'ttl']) }
const TEXT = object(['type', 'text'], CACHED)

const SOURCES = {
  base64: object(['type', 'media_type', 'data']),
  url: object(['type', 'url']),
}
const SOURCE = choice('type', SOURCES)

const IMAGE = object(['type'], { source: SOURCE, ...CACHED })

const DOCUMENT_SOURCE = choice('type', {
  ...SOURCES,
  text: object(['type', 'media_type', 'data']),
  content: object(['type'], { content: listOf(choice('type', { text: TEXT, image: IMAGE })) }),
})

const USER_BLOCKS = {
  text: TEXT,
  image: IMAGE,
  // The title of a document that becomes text is named by the decoder.
  document: object(['type', 'title'], { source: DOCUMENT_SOURCE, ...CACHED }),
  search_result: object(['type', 'title', 'source'], { content: listOf(TEXT), ...CACHED }),
  tool_reference: object(['type', 'tool_name'], CACHED),
  browser_state: object(['type', 'tabs', 'state_changes'], CACHED),
}

const TOOL = object(['type', 'name', 'description', 'input_schema', 'strict'], CACHED)

export const MESSAGES_SHAPES: Readonly<Record<string, Shape>> = {
  system: listOf(TEXT),
  messages: listOf(
    choice('role', {
      system: object(['role'], { content: listOf(TEXT) }),
      user: object(['role'], {
        content: listOf(
          choice('type', {
            ...USER_BLOCKS,
            tool_result: object(['type', 'tool_use_id', 'is_error'], {
              content: listOf(choice('type', USER_BLOCKS)),
              ...CACHED,
            }),
          }),
        ),
      }),
      assistant: object(['role'], {
        content: listOf(
          choice('type', {
            text: TEXT,
            thinking: object(['type', 'thinking', 'signature']),
            redacted_thinking: object(['type', 'data']),
            tool_use: object(['type', 'id', 'name', 'input'], CACHED),
          }),
        ),
      }),
    }),
  ),
  tools: listOf(
    // A tool with another type is named by the decoder.
    choice('type', { custom: TOOL }, TOOL),
  ),
  tool_choice: object(['type', 'name', 'disable_parallel_tool_use']),
  thinking: object(['type', 'budget_tokens', 'display']),
  output_config: object(['effort'], { format: object(['type', 'schema']) }),
  metadata: object(['user_id']),
}
