/**
 * The headers that pass between a caller and an upstream: the dialect's list and the operator's.
 */
import type { InboundDialectId } from '../../core/dialects.ts'
import { HeaderList } from '../../net/headers.ts'
import { CALL_ENDPOINTS } from '../../wire/dialects.ts'
import { withCommonHeaders } from '../../wire/header-lists.ts'

export interface AddedHeaders {
  readonly request: readonly string[]
  readonly answer: readonly string[]
}

const NOTHING_ADDED: AddedHeaders = { request: [], answer: [] }

interface DialectHeaders {
  readonly request: HeaderList
  readonly answer: HeaderList
  readonly ownAnswer: HeaderList
  readonly underBudget: HeaderList
}

export class CallHeaders {
  readonly #lists: ReadonlyMap<InboundDialectId, DialectHeaders>

  constructor(added: AddedHeaders = NOTHING_ADDED) {
    this.#lists = new Map(
      Object.values(CALL_ENDPOINTS).map((dialect) => {
        const { request, answer, ownAnswer } = withCommonHeaders(dialect.headers)
        return [
          dialect.id,
          {
            request: new HeaderList([...request, ...added.request]),
            answer: new HeaderList([...answer, ...added.answer]),
            ownAnswer: new HeaderList([...answer, ...ownAnswer, ...added.answer]),
            underBudget: new HeaderList([...answer, ...added.answer], ownAnswer),
          },
        ]
      }),
    )
  }

  listsFor(dialect: InboundDialectId, owner: 'account' | 'platform'): PassedHeaders {
    const { request, answer, ownAnswer, underBudget } = this.#lists.get(dialect) ?? NO_LISTS
    return { request, answer: owner === 'account' ? ownAnswer : answer, underBudget }
  }
}

export interface PassedHeaders {
  readonly request: HeaderList
  readonly answer: HeaderList
  /** Replaces `answer` where the gateway's own headers name a limit in money. */
  readonly underBudget: HeaderList
}

const NO_HEADER = new HeaderList([])
const NO_LISTS: DialectHeaders = {
  request: NO_HEADER,
  answer: NO_HEADER,
  ownAnswer: NO_HEADER,
  underBudget: NO_HEADER,
}
