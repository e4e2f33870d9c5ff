/** The question to a gate's target when it is tested: little, and in a dialect that it speaks. */

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
  /** But for the member that names the gate. */
  readonly body: Readonly<Record<string, unknown>>
}

const PROMPT = 'Say OK.'
/** Little to pay for, and above the least that every dialect takes (Responses: 16). */
const LIMIT = 32

const messages = [{ role: 'user', content: PROMPT }]

/** @returns undefined when the provider speaks nothing that callers can be served in */
export function chooseQuestion(provider: Provider, model: string): Question | undefined {
  const { endpoints } = provider
  const spoken = Object.keys(endpoints) as DialectId[]
  const isOf = (form: DialectForm['id']) => (id: DialectId) => formOfDialect(id).id === form
  // A model for embeddings answers nothing else; where its provider speaks more, only its name
  // tells.
  const mayEmbed = spoken.some(isOf('embeddings'))
  if (mayEmbed && (/embed/i.test(model) || spoken.every(isOf('embeddings'))))
    return { dialect: openaiEmbeddings, body: { input: PROMPT } }
  // Before Chat, which some models do not have, and where others fail when thinking uses the limit
  // up.
  if (endpoints['openai-responses'] !== undefined)
    return { dialect: openaiResponses, body: { input: PROMPT, max_output_tokens: LIMIT } }
  if (endpoints['anthropic-messages'] !== undefined)
    return { dialect: anthropicMessages, body: { messages, max_tokens: LIMIT } }
  if (endpoints['mistral-chat'] !== undefined)
    return { dialect: mistralChat, body: { messages, max_tokens: LIMIT } }
  if (spoken.some((id) => translatorFor(openaiChat, id) !== undefined)) {
    const limit =
      traitsOf(provider, model).maxCompletionTokens === true
        ? 'max_completion_tokens'
        : 'max_tokens'
    return { dialect: openaiChat, body: { messages, [limit]: LIMIT } }
  }
  if (spoken.some(isOf('fim')))
    return { dialect: mistralFim, body: { prompt: `# ${PROMPT}\n`, max_tokens: LIMIT } }
  return undefined
}
