/**
 * The requests of a probe to an owned model: one small request in its dialect, then one per further
 * capability of the server.
 */
import { DIALECTS, type OwnedModelDialect } from '../../core/dialects.ts'
import type { ServerTraits } from '../../core/owned-model.ts'
import { anthropicCountTokens } from '../../wire/anthropic-messages/count-tokens.ts'
import { anthropicMessages } from '../../wire/anthropic-messages/index.ts'
import type { RelayedDialect } from '../../wire/dialect.ts'
import { openaiEmbeddings } from '../../wire/embeddings/index.ts'
import { openaiChat } from '../../wire/openai-chat/index.ts'
import { openaiResponses } from '../../wire/openai-responses/index.ts'
import type { ProbeAnswer } from './probe-exchange.ts'
import { readAnswer } from './probe-verdict.ts'

export interface ProbeQuestion {
  readonly dialect: RelayedDialect
  readonly path: string
  readonly body: (model: string) => object
}

interface FurtherQuestion extends ProbeQuestion {
  readonly trait: keyof Pick<ServerTraits, 'embeddings' | 'countTokens'>
}

const messages = [{ role: 'user', content: 'Hi' }]

const EMBEDDINGS = {
  dialect: openaiEmbeddings,
  path: DIALECTS['openai-embeddings'].owned.path,
  body: (model: string) => ({ model, input: 'Hi' }),
}

/** The smallest request of each dialect. probe-fim.ts probes fill-in-the-middle. */
export const MAIN_QUESTIONS: Partial<Readonly<Record<OwnedModelDialect, ProbeQuestion>>> = {
  'openai-chat': {
    dialect: openaiChat,
    path: DIALECTS['openai-chat'].owned.path,
    body: (model) => ({ model, messages, max_tokens: 1 }),
  },
  'openai-responses': {
    dialect: openaiResponses,
    path: DIALECTS['openai-responses'].owned.path,
    body: (model) => ({ model, input: 'Hi', max_output_tokens: 16, store: false }),
  },
  'anthropic-messages': {
    dialect: anthropicMessages,
    path: DIALECTS['anthropic-messages'].owned.path,
    body: (model) => ({ model, messages, max_tokens: 1 }),
  },
  'openai-embeddings': EMBEDDINGS,
}

/** Sent to servers that have answered the first request. */
export const FURTHER_QUESTIONS: Partial<Record<OwnedModelDialect, readonly FurtherQuestion[]>> = {
  'openai-chat': [{ ...EMBEDDINGS, trait: 'embeddings' }],
  'anthropic-messages': [
    {
      trait: 'countTokens',
      dialect: anthropicCountTokens,
      path: '/v1/messages/count_tokens',
      body: (model) => ({ model, messages }),
    },
  ],
}

export function judgeFurther(dialect: RelayedDialect, answer: ProbeAnswer): boolean | undefined {
  const { status } = answer
  if (status >= 200 && status < 300) return readAnswer(dialect, answer) === undefined
  // A busy or failing server shows nothing about the capability. llama.cpp answers 501 when started
  // without the capability.
  const isUnknown = status === 429 || (status >= 500 && status !== 501)
  return isUnknown ? undefined : false
}
