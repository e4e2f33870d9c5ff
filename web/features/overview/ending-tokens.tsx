import { CalendarClock } from 'lucide-react'
import { EXPIRES_SOON_MS } from '../../../src/contract/expiry.ts'
import type { RowOf } from '../../api/ask.ts'
import { formatRemaining } from '../../format/times.ts'
import { PageLink } from '../../ui/links.tsx'

const NAMED = 3

/** Names tokens in use that expire soon, because their calls will be refused. */
export function EndingTokens({
  tokens,
}: {
  readonly tokens: readonly RowOf<'GET /v1/access-tokens'>[]
}) {
  const now = Date.now()
  const used = tokens
    .filter(
      ({ lastUsedAt }) => lastUsedAt !== null && Date.parse(lastUsedAt) > now - EXPIRES_SOON_MS,
    )
    .flatMap((token) => (token.expiresAt === null ? [] : [{ ...token, end: token.expiresAt }]))
    .toSorted((one, other) => Date.parse(one.end) - Date.parse(other.end))
  const rest = used.length - NAMED
  if (used.length === 0) return null
  return (
    <section
      aria-label="Access tokens that expire soon"
      className="flex items-center gap-3 rounded-xl border border-warn bg-warn-soft px-5 py-2.5 text-[13px] text-ink"
    >
      <CalendarClock aria-hidden className="size-4 shrink-0 text-warn" />
      <span className="min-w-0 wrap-anywhere">
        <span className="font-medium text-warn">Access tokens in use expire soon:</span>{' '}
        {used.slice(0, NAMED).map(({ id, name, end }, index) => (
          <span key={id}>
            {index > 0 && ', '}
            <PageLink to={`/keys/${id}`}>
              <bdi>{name}</bdi>
            </PageLink>{' '}
            {formatRemaining(end, now)}
          </span>
        ))}
        {rest > 0 && (
          <>
            {' '}
            and <PageLink to="/keys">{rest} more</PageLink>
          </>
        )}
        . Set a later end, or create new tokens.
      </span>
    </section>
  )
}
