/**
 * How clients name what they ask: operations of the interface, by method and path, with the types
 * of its document. Sends nothing.
 */
import type { Api } from './api.generated.ts'

/** `GET /v1/gates/{id}` and its like. */
export type OperationName = keyof Api

export type AnswerOf<Name extends OperationName> = Api[Name]['answer']

/** A parameter list: nothing where nothing has to be said. */
export type QuestionOf<Name extends OperationName> =
  Record<never, never> extends Api[Name]['question']
    ? readonly [question?: Api[Name]['question']]
    : readonly [question: Api[Name]['question']]

/**
 * A member that every answer of the operation has: what does not have it did not come from a
 * gateway.
 */
export type MemberOf<Name extends OperationName> = Exclude<keyof AnswerOf<Name>, symbol | number>

/** Operations that answer in pages. */
export type ListName = {
  [Name in OperationName]: AnswerOf<Name> extends {
    readonly data: readonly unknown[]
    readonly nextCursor: string | null
  }
    ? Name
    : never
}[OperationName]

/**
 * Of these, those that are asked for page by page; the others have one page, and refuse to be asked
 * for a part of it.
 */
export type PagedName = {
  [Name in ListName]: Api[Name]['question'] extends {
    readonly query?: { readonly cursor?: string | undefined }
  }
    ? 'query' extends keyof Api[Name]['question']
      ? Name
      : never
    : never
}[ListName]

export type RowOf<Name extends ListName> = AnswerOf<Name>['data'][number]

export type QueryOf<Name extends OperationName> = Api[Name]['question'] extends {
  readonly query?: infer Query
}
  ? NonNullable<Query>
  : never

/** The parameters that pick out rows of a list; its pages are the client's own business. */
export type FiltersOf<Name extends ListName> = Omit<QueryOf<Name>, 'limit' | 'cursor'>

/** Operations that answer nothing when they succeed. */
export type RemovalName = {
  [Name in OperationName]: AnswerOf<Name> extends null ? Name : never
}[OperationName] &
  `DELETE ${string}`

export interface ApiRequest {
  readonly method: string
  /** Absolute path with its query. */
  readonly path: string
  readonly body: unknown
}

/** Fills in an operation's path, and writes its query. */
export function toApiRequest(name: OperationName, question: object = {}): ApiRequest {
  const {
    path = {},
    query = {},
    body,
  } = question as {
    readonly path?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
    readonly body?: unknown
  }
  const space = name.indexOf(' ')
  const filled = name
    .slice(space + 1)
    .replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(path[parameter] ?? ''))
  const given = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as const],
  )
  const search = given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given))}`
  return { method: name.slice(0, space), path: filled + search, body }
}
