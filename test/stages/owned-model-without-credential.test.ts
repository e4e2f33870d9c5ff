/**
 * Owned models without a credential: calls carry no credential header, whatever the caller sends.
 */
import { describe, expect, test } from 'bun:test'
import type { OwnedModelDialect } from '../../src/core/dialects.ts'
import { type OwnedServer, ownedProvider } from '../../src/providers/owned.ts'
import { CHAT_JSON, FIM_JSON, MESSAGES_JSON, RESPONSES_JSON } from '../support/dialect-samples.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

interface Row {
  readonly dialect: OwnedModelDialect
  readonly server?: OwnedServer
  readonly path: string
  readonly body: object
  readonly answer: unknown
}

const messages = [{ role: 'user', content: 'Hi' }]
const chat = { model: 'house', messages, max_tokens: 9 }
const gap = { model: 'house', prompt: 'a', suffix: 'b' }

const ROWS: Readonly<Record<string, Row>> = {
  chat: { dialect: 'openai-chat', path: '/v1/chat/completions', body: chat, answer: CHAT_JSON },
  'chat, translated': {
    dialect: 'anthropic-messages',
    path: '/v1/chat/completions',
    body: chat,
    answer: MESSAGES_JSON,
  },
  Messages: {
    dialect: 'anthropic-messages',
    path: '/v1/messages',
    body: chat,
    answer: MESSAGES_JSON,
  },
  'Messages of a server that takes a bearer token': {
    dialect: 'anthropic-messages',
    server: { credentialHeader: 'authorization' },
    path: '/v1/messages',
    body: chat,
    answer: MESSAGES_JSON,
  },
  'token counting': {
    dialect: 'anthropic-messages',
    server: { countTokens: true },
    path: '/v1/messages/count_tokens',
    body: { model: 'house', messages },
    answer: { input_tokens: 3 },
  },
  Responses: {
    dialect: 'openai-responses',
    path: '/v1/responses',
    body: { model: 'house', input: 'Hi' },
    answer: RESPONSES_JSON,
  },
  embeddings: {
    dialect: 'openai-chat',
    server: { embeddings: true },
    path: '/v1/embeddings',
    body: { model: 'house', input: 'Hi' },
    answer: {
      object: 'list',
      model: 'served',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
    },
  },
  'filling in the middle': {
    dialect: 'mistral-fim',
    path: '/alt/v1/fim/completions',
    body: gap,
    answer: FIM_JSON,
  },
}

describe('a model without a credential', () => {
  test.each(Object.entries(ROWS))('%s: no header carries one', async (_name, row) => {
    const { dialect, server, path, body, answer } = row
    const gateway = new InProcessGateway({
      gates: { house: ['owned/bare'] },
      ownedModels: [
        {
          slug: 'bare',
          provider: ownedProvider('owned/bare', dialect, 'https://models.example/v1', server),
          model: 'served',
          credential: { secret: undefined, owner: 'account' },
        },
      ],
      // The operator's forwarded headers do not include the caller's credential.
      addedHeaders: { request: ['authorization', 'x-api-key'], answer: [] },
      upstream: [json(200, answer)],
    })
    const headers = { 'x-api-key': 'planted-of-the-caller' }
    const { status, text } = await gateway.ask({ path, headers, body })
    expect({ status, text }).toMatchObject({ status: 200 })
    const [sent] = gateway.upstream.sent
    expect(Object.keys(sent?.headers ?? {}).filter((name) => /auth|api-key/.test(name))).toEqual([])
    expect(JSON.stringify(gateway.upstream.sent)).not.toContain('planted-')
    await gateway.assertNothingIsLeft()
  })
})
