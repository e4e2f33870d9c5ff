/** One session: its sums, the growth of its input, and its calls by agent. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { formatCount, formatShare, formatUsd, formatWhole } from '../../format/figures.ts'
import { nameOfCaller } from '../../format/group-name.ts'
import { readErrors } from '../../format/usage-measures.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Fact, Facts } from '../../ui/facts.tsx'
import { PageLink } from '../../ui/links.tsx'
import { DateTime } from '../../ui/moment.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorState, RowSkeletons } from '../../ui/states.tsx'
import { AgentTimeline } from './agent-timeline.tsx'
import { ContextGrowth } from './context-growth.tsx'
import { Caller } from './session-table.tsx'

const AT_ONCE = 100

export function SessionPage() {
  const { sessionId } = useParams({ from: '/shell/sessions/$sessionId' })
  const pages = useInfiniteQuery({
    queryKey: ['GET /v1/usage/sessions/{id}', 'pages', sessionId],
    queryFn: ({ pageParam }) =>
      ask('GET /v1/usage/sessions/{id}', {
        path: { id: sessionId },
        query: { limit: AT_ONCE, cursor: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  const session = pages.data?.pages.at(-1)
  const calls = pages.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Page
      title="Session"
      note={<code className="font-mono text-[13px]">{sessionId}</code>}
      actions={
        <PageLink to="/logs" search={{ session: sessionId }} className="text-[13px]">
          Calls in the logs
        </PageLink>
      }
    >
      {session === undefined ? (
        <Card>
          {pages.isError ? (
            <ErrorState error={pages.error} retry={() => void pages.refetch()} />
          ) : (
            <RowSkeletons />
          )}
        </Card>
      ) : (
        <>
          <Card>
            <Facts>
              <Fact term="Who">
                <Caller session={session} />
              </Fact>
              <Fact term="Token or key">
                <PageLink to={`/keys/${encodeURIComponent(session.keyId)}`}>
                  {nameOfCaller(session.keyId, session.keyName)}
                </PageLink>
              </Fact>
              <Fact term="First call">
                <DateTime at={session.firstAt} />
              </Fact>
              <Fact term="Last call">
                <DateTime at={session.lastAt} />
              </Fact>
              <Fact term="Calls">{formatWhole(session.calls)}</Fact>
              <Fact term="Failed">{formatWhole(readErrors(session).errors)}</Fact>
              <Fact term="Tokens in / out">
                {formatCount(session.tokens.input)} / {formatCount(session.tokens.output)}
              </Fact>
              <Fact term="Cached input">
                {formatShare(session.tokens.cachedInput / session.tokens.input)}
              </Fact>
              <Fact term="Largest input">{formatWhole(session.tokens.largestInput)}</Fact>
              <Fact term="Cost">{formatUsd(session.cost.usd)}</Fact>
            </Facts>
          </Card>
          <Card className="min-w-0">
            <CardHeader
              title="Context growth"
              note="Input tokens of each call. The faint part was not cached."
            />
            <ContextGrowth calls={calls} />
          </Card>
          <Card className="min-w-0">
            <CardHeader
              title="Timeline"
              note="Subagents stand below the agent that started them."
            />
            <AgentTimeline agents={session.agents} calls={calls} />
            {pages.hasNextPage && (
              <div className="flex items-center justify-center gap-4 border-t border-line p-3">
                <span className="text-[13px] text-ink-soft">
                  The first {formatWhole(calls.length)} calls are shown.
                </span>
                <Button
                  size="small"
                  isBusy={pages.isFetchingNextPage}
                  onClick={() => void pages.fetchNextPage()}
                >
                  Show more
                </Button>
              </div>
            )}
          </Card>
        </>
      )}
    </Page>
  )
}
