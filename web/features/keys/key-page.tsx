/** One access token or API key: its use over time, its facts and its rules. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { stateOfExpiry } from '../../../src/contract/expiry.ts'
import { ApiError } from '../../api/api-error.ts'
import { ask } from '../../api/ask.ts'
import { parseRangeChoice, resolveRange } from '../../format/time-range.ts'
import { Badge } from '../../ui/badge.tsx'
import { ErrorsCard } from '../../ui/errors-card.tsx'
import { GroupCard } from '../../ui/group-card.tsx'
import { LimitNotices } from '../../ui/limit-notices.tsx'
import { Page } from '../../ui/page.tsx'
import { RangePicker } from '../../ui/range-picker.tsx'
import { RefusedCalls } from '../../ui/refused-calls.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { StopBadge } from '../../ui/stop-dialogs.tsx'
import { UsageCard } from '../../ui/usage-card.tsx'
import { useExhausted } from '../../ui/use-exhausted.ts'
import { type Credential, KeyFacts } from './key-facts.tsx'
import { Expiry } from './key-table.tsx'

export function KeyPage() {
  const { keyId } = useParams({ from: '/shell/keys/$keyId' })
  const choice = parseRangeChoice(useSearch({ strict: false }))
  const navigate = useNavigate()
  const range = resolveRange(choice, Date.now())
  const found = useCredential(keyId)
  const exhausted = useExhausted('key').filter(({ of }) => of === keyId)
  const credential = found.data
  const filters = { key: keyId }
  return (
    <Page
      title={credential?.row.name ?? 'Token or key'}
      note={
        credential === undefined ? undefined : credential === null ? (
          'The token or key was deleted. Its calls stay in the logs.'
        ) : (
          <States credential={credential} />
        )
      }
      actions={
        <RangePicker
          choice={choice}
          onChoose={(search) => void navigate({ to: '.', search: { ...search }, replace: true })}
        />
      }
    >
      <LimitNotices exhausted={exhausted} />
      <UsageCard filters={filters} range={range} />
      <div className="grid gap-6 xl:grid-cols-2">
        <GroupCard filters={filters} by="gate" order="calls" range={range} />
        <ErrorsCard filters={filters} period={range.current} />
      </div>
      <RefusedCalls period={range.current} filters={filters} />
      {found.isError && <ErrorState error={found.error} retry={() => void found.refetch()} />}
      {credential != null && <KeyFacts credential={credential} />}
    </Page>
  )
}

/** Null: the token or key was deleted. */
function useCredential(id: string) {
  return useQuery({
    queryKey: ['GET /v1/access-tokens/{id}', 'GET /v1/keys/{id}', id],
    queryFn: async (): Promise<Credential | null> => {
      const path = { id }
      const token = await orNull(ask('GET /v1/access-tokens/{id}', { path }))
      if (token !== null) return { kind: 'token', row: token }
      const key = await orNull(ask('GET /v1/keys/{id}', { path }))
      return key === null ? null : { kind: 'key', row: key }
    },
  })
}

async function orNull<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

function States({ credential: { kind, row } }: { readonly credential: Credential }) {
  const now = Date.now()
  return (
    <span className="flex flex-wrap items-center gap-2">
      <code className="font-mono text-[13px]">{row.maskedPrefix}</code>
      <Badge>{kind === 'token' ? 'Access token' : 'API key, full access'}</Badge>
      {row.expiresAt !== null && stateOfExpiry(row.expiresAt, now) !== 'later' && (
        <Expiry at={row.expiresAt} now={now} />
      )}
      <StopBadge stop={kind === 'token' ? row.stop : undefined} />
    </span>
  )
}
