/** Reads the SDKs' requests, so an update of an SDK fails here when a vendor adds an id. */
import { describe, expect, test } from 'bun:test'
import { listMembers } from '../../test/support/sdk-members.ts'
import { MESSAGES_IDS } from './anthropic-messages/settings.ts'
import { CHAT_IDS } from './openai-chat/settings.ts'
import { RESPONSES_IDS } from './openai-responses/settings.ts'
import { VendorIds } from './vendor-ids.ts'

const OPENAI = 'openai/resources'
const ANTHROPIC = '@anthropic-ai/sdk/resources'
const MISTRAL = '@mistralai/mistralai/esm/models/components'
const NONE = new VendorIds({ vendor: [], free: [] })

const REQUESTS: readonly (readonly [file: string, typeName: string, ids: VendorIds])[] = [
  [`${OPENAI}/responses/responses.d.ts`, 'ResponseCreateParamsBase', RESPONSES_IDS],
  [`${OPENAI}/chat/completions/completions.d.ts`, 'ChatCompletionCreateParamsBase', CHAT_IDS],
  [`${OPENAI}/embeddings.d.ts`, 'EmbeddingCreateParams', NONE],
  [`${ANTHROPIC}/messages/messages.d.ts`, 'MessageCreateParamsBase', MESSAGES_IDS],
  [`${ANTHROPIC}/messages/messages.d.ts`, 'MessageCountTokensParams', MESSAGES_IDS],
  [`${ANTHROPIC}/beta/messages/messages.d.ts`, 'MessageCreateParamsBase', MESSAGES_IDS],
  [`${ANTHROPIC}/beta/messages/messages.d.ts`, 'MessageCountTokensParams', MESSAGES_IDS],
  [`${MISTRAL}/chatcompletionrequest.d.ts`, 'ChatCompletionRequest$Outbound', CHAT_IDS],
  [`${MISTRAL}/chatcompletionstreamrequest.d.ts`, 'ChatCompletionStreamRequest$Outbound', CHAT_IDS],
  [`${MISTRAL}/fimcompletionrequest.d.ts`, 'FIMCompletionRequest$Outbound', NONE],
  [`${MISTRAL}/embeddingrequest.d.ts`, 'EmbeddingRequest$Outbound', NONE],
]

/** In snake case and in camel case. Other words with such an ending are listed as free. */
const LOOKS_LIKE_ID = /(?:ids?|container|references?)$/i

function listIdLike(file: string, typeName: string): readonly string[] {
  return [...listMembers(file, typeName)].filter((path) => LOOKS_LIKE_ID.test(path))
}

function vendorPaths({ paths }: VendorIds): readonly string[] {
  return paths.vendor.map((each) => (typeof each === 'string' ? each : each.path))
}

function listedPaths(ids: VendorIds): readonly string[] {
  return [...vendorPaths(ids), ...ids.paths.free, ...(ids.paths.refused ?? [])]
}

describe('each member that looks like an id is listed as a vendor id or as free', () => {
  test.each(REQUESTS)('%s: %s', (file, typeName, ids) => {
    const listed = new Set(listedPaths(ids))
    expect(listIdLike(file, typeName).filter((path) => !listed.has(path))).toEqual([])
  })
})

test('members are found below namespaces, imports, unions and lists', () => {
  const [responses] = REQUESTS
  if (responses === undefined) throw new Error('No request is listed.')
  const [file, typeName] = responses
  expect(listIdLike(file, typeName)).toContain('input.tools.container.file_ids')
})

test('no path is listed in two ways, and none is one that no SDK has any more', () => {
  for (const ids of [RESPONSES_IDS, MESSAGES_IDS, CHAT_IDS]) {
    const listed = listedPaths(ids)
    expect(listed).toEqual([...new Set(listed)])
    const known = new Set(
      REQUESTS.filter(([, , of]) => of === ids).flatMap(([file, name]) => [
        ...listMembers(file, name),
      ]),
    )
    expect(listed.filter((path) => !known.has(path))).toEqual([])
  }
})
