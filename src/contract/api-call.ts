/**
 * How clients name operations of the API: by method and path, with the types of the OpenAPI
 * document.
 */
import type { Api } from './api.generated.ts'

export type OperationName = keyof Api

export type AnswerOf<Name extends OperationName> = Api[Name]['answer']

export type QuestionOf<Name extends OperationName> =
  Record<never, never> extends Api[Name]['question']
    ? readonly [question?: Api[Name]['question']]
    : readonly [question: Api[Name]['question']]

/**
 * A member that every answer of the operation has. An answer without the member did not come from a
 * gateway.
 */
export type MemberOf<Name extends OperationName> = Exclude<keyof AnswerOf<Name>, symbol | number>

export type ListName = {
  [Name in OperationName]: AnswerOf<Name> extends {
    readonly data: readonly unknown[]
    readonly nextCursor: string | null
  }
    ? Name
    : never
}[OperationName]

/**
 * Lists that are requested page by page. Other lists have a single page, and refuse paging
 * parameters.
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

export type FiltersOf<Name extends ListName> = Omit<QueryOf<Name>, 'limit' | 'cursor'>

/** Removals: their successful answer is empty, or reports the calls that ended. */
export type RemovalName = {
  [Name in OperationName]: AnswerOf<Name> extends null | { readonly stopped: true } ? Name : never
}[OperationName] &
  `DELETE ${string}`

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

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
