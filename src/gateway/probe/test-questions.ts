/** The request that tests a gate's target: small, and in a dialect that the target supports. */

import { type DialectForm, type DialectId, formOfDialect } from '../../core/dialects.ts'
import type { Provider } from '../../providers/define.ts'
import { anthropicMessages } from '../../wire/anthropic-messages/index.ts'
import type { RelayedDialect } from '../../wire/dialect.ts'
import { translatorFor } from '../../wire/dialects.ts'
import { openaiEmbeddings } from '../../wire/embeddings/index.ts'
import { mistralChat } from '../../wire/mistral-chat/index.ts'
import { mistralFim } from '../../wire/mistral-fim/index.ts'
import { openaiChat } from '../../wire/openai-chat/index.ts'
import { openaiResponses } from '../../wire/openai-responses/index.ts'
import { traitsOf } from '../plan/compile-target.ts'

export interface Question {
  readonly dialect: RelayedDialect
  /** Without the member that names the gate. */
  readonly body: Readonly<Record<string, unknown>>
}

const PROMPT = 'Say OK.'
/** Cheap, and above the minimum of every dialect (Responses: 16). */
const LIMIT = 32

const messages = [{ role: 'user', content: PROMPT }]

export function chooseQuestion(provider: Provider, model: string): Question | undefined {
  const { endpoints } = provider
  const dialects = Object.keys(endpoints) as DialectId[]
  const isOf = (form: DialectForm['id']) => (id: DialectId) => formOfDialect(id).id === form
  // An embedding model answers only embeddings. If its provider supports more, only the model's
  // name shows the kind.
  const mayEmbed = dialects.some(isOf('embeddings'))
  if (mayEmbed && (/embed/i.test(model) || dialects.every(isOf('embeddings'))))
    return { dialect: openaiEmbeddings, body: { input: PROMPT } }
  // Some models lack Chat, and others fail there when thinking uses up the limit, so Responses
  // comes first.
  if (endpoints['openai-responses'] !== undefined)
    return { dialect: openaiResponses, body: { input: PROMPT, max_output_tokens: LIMIT } }
  if (endpoints['anthropic-messages'] !== undefined)
    return { dialect: anthropicMessages, body: { messages, max_tokens: LIMIT } }
  if (endpoints['mistral-chat'] !== undefined)
    return { dialect: mistralChat, body: { messages, max_tokens: LIMIT } }
  if (dialects.some((id) => translatorFor(openaiChat, id) !== undefined)) {
    const limit =
      traitsOf(provider, model).maxCompletionTokens === true
        ? 'max_completion_tokens'
        : 'max_tokens'
    return { dialect: openaiChat, body: { messages, [limit]: LIMIT } }
  }
  if (dialects.some(isOf('fim')))
    return { dialect: mistralFim, body: { prompt: `# ${PROMPT}\n`, max_tokens: LIMIT } }
  return undefined
}
