/**
 * The requests of pages as queries. A query's key begins with the operation's name, so that a
 * change can name the lists that it makes stale.
 */
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import {
  type AnswerOf,
  askWhole,
  askWith,
  type OperationName,
  type PagedName,
  type QuestionOf,
} from './ask.ts'

export function operationQuery<Name extends OperationName>(
  name: Name,
  ...[question]: QuestionOf<Name>
) {
  return queryOptions({
    queryKey: [name, question ?? {}] as const,
    queryFn: ({ signal }): Promise<AnswerOf<Name>> =>
      askWith(name, { signal }, question as object | undefined),
  })
}

export function wholeListQuery<Name extends PagedName>(name: Name) {
  return queryOptions({
    queryKey: [name, 'whole'] as const,
    queryFn: ({ signal }) => askWhole(name, signal),
  })
}

export async function refresh(
  client: QueryClient,
  ...names: readonly OperationName[]
): Promise<void> {
  await Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [name] })))
}
