/**
 * The rows of the log under a filter: older rows page by page and, if requested, new rows when
 * calls end.
 */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type AnswerOf, askWith } from '../../api/ask.ts'
import type { Log, LogQuery } from './log-filter.ts'

const PAGE_SIZE = 200
const POLL_MS = 2_000
/**
 * Calls appear in the log when they end, ordered by their beginnings, so new calls may appear this
 * far back.
 */
const FOLLOWED_MS = 10 * 60_000
/** Maximum pages per poll, even if no known call is reached. */
const MAX_POLLED_PAGES = 5

export interface LogRows {
  readonly rows: readonly Log[]
  readonly isLoading: boolean
  readonly isReplacing: boolean
  readonly error: unknown
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly moreError: unknown
  readonly isLiveBroken: boolean
  loadMore(): void
  reload(): void
}

/** @param query must be the same object while the filter is the same */
export function useLogRows(query: LogQuery, isLive: boolean): LogRows {
  const pages = useInfiniteQuery({
    queryKey: ['GET /v1/logs', 'pages', query] as const,
    queryFn: ({ pageParam, signal }) => askPage(query, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    // Ended calls do not change, so hundreds of pages need not be reloaded or compared.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
    structuralSharing: false,
    // A later visit starts with the newest calls, and nothing of this visit stays in memory.
    gcTime: 0,
  })
  const isCurrent = pages.data !== undefined && !pages.isPlaceholderData

  const [tail, setTail] = useState<{ query: LogQuery; rows: readonly Log[] }>({ query, rows: [] })
  const fresh = tail.query === query ? tail.rows : NONE
  const isWhole = !pages.hasNextPage
  const rows = useMemo(() => {
    const loaded = pages.data?.pages.flatMap(({ data }) => data) ?? []
    return mergeRows(loaded, fresh, isWhole)
  }, [pages.data, fresh, isWhole])

  const known = useRef(rows)
  known.current = rows
  const newest = useQuery({
    queryKey: ['GET /v1/logs', 'newest', query] as const,
    queryFn: ({ signal }) => askFresh(query, known.current, signal),
    enabled: isLive && isCurrent,
    refetchInterval: POLL_MS,
    structuralSharing: false,
    staleTime: 0,
    gcTime: 0,
  })
  useEffect(() => {
    const found = newest.data
    if (found === undefined || found.length === 0) return
    setTail((before) => {
      const already = before.query === query ? before.rows : NONE
      return { query, rows: mergeRows(already, findFresh(already, found), true) }
    })
  }, [newest.data, query])

  return {
    rows,
    isLoading: pages.isPending,
    isReplacing: pages.isPlaceholderData,
    error: pages.data === undefined ? pages.error : null,
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    moreError: pages.isFetchNextPageError ? pages.error : null,
    isLiveBroken: isLive && newest.isError,
    loadMore: () => void pages.fetchNextPage({ cancelRefetch: false }),
    reload: () => void pages.refetch(),
  }
}

const NONE: readonly Log[] = []

function askPage(
  query: LogQuery,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<AnswerOf<'GET /v1/logs'>> {
  return askWith('GET /v1/logs', { signal }, { query: { ...query, limit: PAGE_SIZE, cursor } })
}

async function askFresh(
  query: LogQuery,
  known: readonly Log[],
  signal: AbortSignal,
): Promise<readonly Log[]> {
  const recent = new Date(Date.now() - FOLLOWED_MS).toISOString()
  const from = query.from !== undefined && query.from > recent ? query.from : recent
  const fresh: Log[] = []
  let cursor: string | undefined
  for (let count = 0; count < MAX_POLLED_PAGES; count += 1) {
    const page = await askPage({ ...query, from }, cursor, signal)
    const unknown = findFresh(known, page.data)
    fresh.push(...unknown)
    cursor = page.nextCursor ?? undefined
    if (cursor === undefined || unknown.length < page.data.length) break
  }
  return fresh
}

/**
 * @param loaded newest first, as the pages arrived
 * @param fresh newest first; may overlap with `loaded`
 * @param isWhole whether `loaded` includes the oldest call
 */
export function mergeRows(
  loaded: readonly Log[],
  fresh: readonly Log[],
  isWhole: boolean,
): readonly Log[] {
  if (fresh.length === 0) return loaded
  const rows: Log[] = []
  let next = 0
  for (const row of loaded) {
    for (let early = fresh[next]; early !== undefined && isNewer(early, row); early = fresh[next]) {
      rows.push(early)
      next += 1
    }
    if (fresh[next]?.id === row.id) next += 1
    rows.push(row)
  }
  // Older pages include the remaining rows.
  if (isWhole) rows.push(...fresh.slice(next))
  return rows
}

export function findFresh(known: readonly Log[], found: readonly Log[]): readonly Log[] {
  const oldest = found.at(-1)
  if (oldest === undefined) return []
  const ids = new Set<string>()
  for (const row of known) {
    if (isNewer(oldest, row)) break
    ids.add(row.id)
  }
  return found.filter(({ id }) => !ids.has(id))
}

function isNewer(one: Log, other: Log): boolean {
  return one.startedAt === other.startedAt ? one.id > other.id : one.startedAt > other.startedAt
}
