/**
 * The headers that pass between a caller and an upstream, for each dialect: its list, and what the
 * operator has added. Must not know names.
 */
import type { AnswerHeaders } from '../../upstream/answer-headers.ts'
import { HeaderList } from '../../upstream/forwarded-headers.ts'
import type { CallerDialectId } from '../../wire/dialect.ts'
import { headerListsOf, LISTED_DIALECTS } from '../../wire/header-lists.ts'

/** Names in lower case that pass in every dialect, beside its own. */
export interface AddedHeaders {
  readonly request: readonly string[]
  readonly answer: readonly string[]
}

const NOTHING_ADDED: AddedHeaders = { request: [], answer: [] }

interface DialectHeaders {
  readonly request: HeaderList
  readonly answer: HeaderList
  /** On the account's own credential. */
  readonly ownAnswer: HeaderList
}

export class CallHeaders {
  readonly #lists: ReadonlyMap<CallerDialectId, DialectHeaders>

  constructor(added: AddedHeaders = NOTHING_ADDED) {
    this.#lists = new Map(
      LISTED_DIALECTS.map((dialect) => {
        const { request, answer, ownAnswer } = headerListsOf(dialect)
        return [
          dialect,
          {
            request: new HeaderList([...request, ...added.request]),
            answer: new HeaderList([...answer, ...added.answer]),
            ownAnswer: new HeaderList([...answer, ...ownAnswer, ...added.answer]),
          },
        ]
      }),
    )
  }

  ofRequest(dialect: CallerDialectId, headers: Headers): Record<string, string> {
    return this.#lists.get(dialect)?.request.pick(headers) ?? {}
  }

  ofAnswer(
    dialect: CallerDialectId,
    headers: AnswerHeaders,
    { owner }: { readonly owner: 'account' | 'platform' },
  ): Record<string, string> {
    const lists = this.#lists.get(dialect)
    return (owner === 'account' ? lists?.ownAnswer : lists?.answer)?.pick(headers) ?? {}
  }
}
