/** The ids in a request of Anthropic's Messages, and of its token counting. */
import { VendorIds } from '../vendor-ids.ts'

/** A document holds a file, or a content with pictures that do. */
const OF_DOCUMENTS = ['source.file_id', 'source.content.source.file_id']

export const MESSAGES_IDS = new VendorIds({
  vendor: [
    'container',
    'container.id',
    // provider-name-ok: a value of the dialect
    { path: 'container.skills.skill_id', exceptType: 'anthropic' },
    // A file for the container.
    'messages.content.file_id',
    ...OF_DOCUMENTS.map((path) => `messages.content.${path}`),
    // Results of tools, and of a web fetch.
    ...OF_DOCUMENTS.map((path) => `messages.content.content.${path}`),
    ...OF_DOCUMENTS.map((path) => `messages.content.content.content.${path}`),
    'diagnostics.previous_message_id',
  ],
  free: [
    'messages.content.id',
    'messages.content.tool_use_id',
    'messages.content.caller.tool_id',
    // What code wrote: the vendor's own words, which clients send back.
    'messages.content.content.content.file_id',
    'messages.content.content.tool_references',
    // Of the caller's own browser.
    'messages.content.content.state_changes.download_id',
    'messages.content.content.state_changes.tab_id',
    'messages.content.content.tabs.tab_id',
    'metadata.user_id',
    // SDKs send these as headers, which are in no list (header-lists.ts).
    'user_profile_id',
    'workspace_id',
  ],
  // State in the account (`HostedMembers`).
  refused: ['thread.previous_message_id'],
})
