/** The ids in a request of a chat completion, as OpenAI and Mistral have it. */
import { VendorIds } from '../vendor-ids.ts'

export const CHAT_IDS = new VendorIds({
  vendor: [
    'messages.content.file.file_id',
    'messages.content.file_id',
    // An earlier answer in speech.
    'messages.audio.id',
    'audio.voice.id',
    'tools.connector_id',
    'tools.library_ids',
  ],
  free: [
    'messages.tool_call_id',
    'messages.tool_calls.id',
    // Numbers of sources, which the request itself brings.
    'messages.content.reference_ids',
    'messages.content.thinking.reference_ids',
  ],
})
