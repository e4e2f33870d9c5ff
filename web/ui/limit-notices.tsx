import { CircleSlash } from 'lucide-react'
import type { Exhausted } from '../format/exhausted.ts'
import { Badge } from './badge.tsx'
import { PageLink } from './links.tsx'
import { Moment } from './moment.tsx'
import { Sentence } from './sentence.tsx'

/** Further limits are only counted. */
const MOST_SHOWN = 4

export function LimitNotices({ exhausted }: { readonly exhausted: readonly Exhausted[] }) {
  if (exhausted.length === 0) return null
  const rest = exhausted.length - MOST_SHOWN
  return (
    <section
      aria-label="Limits that are used up"
      className="rounded-xl border border-danger bg-danger-soft"
    >
      <ul className="flex flex-col gap-3 px-5 py-4 text-[13px]">
        {exhausted.slice(0, MOST_SHOWN).map((one) => (
          <li key={one.id} className="flex gap-3">
            <CircleSlash aria-hidden className="mt-0.5 size-4 shrink-0 text-danger" />
            <Notice {...one} />
          </li>
        ))}
        {rest > 0 && (
          <li className="text-ink">
            And {rest} more under <PageLink to="/settings/budgets">Budgets</PageLink>.
          </li>
        )}
      </ul>
    </section>
  )
}

interface Head {
  readonly id: string
  /** Of the budget for each user or key. */
  readonly name: string
  /** Who is over the limit: a name or a count. */
  readonly who: string
  readonly isSteering: boolean
}

/** One line for pages with a subject of their own. */
export function LimitNoticeLine({
  exhausted,
  heads,
}: {
  readonly exhausted: readonly Exhausted[]
  readonly heads: readonly Head[]
}) {
  const named = [
    ...exhausted.map(({ id, title, isSteering }) => ({
      ...{ id, isSteering },
      text: <Sentence text={title.replace(/^The/, 'the')} />,
    })),
    ...heads.map(({ id, name, who, isSteering }) => ({
      ...{ id, isSteering },
      text: (
        <>
          <Sentence text={`the budget “${name}” of `} />
          <PageLink to="/settings/budgets">
            <bdi>{who}</bdi>
          </PageLink>
        </>
      ),
    })),
  ]
  if (named.length === 0) return null
  const rest = named.length - NAMED_IN_LINE
  return (
    <section
      aria-label="Limits that are used up"
      className="flex items-center gap-3 rounded-xl border border-danger bg-danger-soft px-5 py-2.5 text-[13px] text-ink"
    >
      <CircleSlash aria-hidden className="size-4 shrink-0 text-danger" />
      <span className="min-w-0 wrap-anywhere">
        <span className="font-medium text-danger">Used up:</span>{' '}
        {named.slice(0, NAMED_IN_LINE).map(({ id, text }, index) => (
          <span key={id}>
            {index > 0 && ', '}
            {text}
          </span>
        ))}
        {rest > 0 && ` and ${rest} more`}. Their calls are refused
        {named.some(({ isSteering }) => isSteering) && ' or move to other targets'}:{' '}
        <PageLink to="/settings/budgets">Budgets</PageLink>,{' '}
        <PageLink to="/logs" search={{ status: '429' }}>
          refused calls
        </PageLink>
        .
      </span>
    </section>
  )
}

const NAMED_IN_LINE = 3

function Notice({ type, title, resetsAt, isSteering }: Exhausted) {
  return (
    <p className="text-ink">
      <span className="font-medium text-danger">
        <Sentence text={title} /> is used up.
      </span>{' '}
      {type === 'budget'
        ? `Its calls ${isSteering ? 'move to other targets, or ' : ''}are refused with 429`
        : 'Calls on the platform’s keys are refused with 429'}
      {resetsAt === null ? ', and it does not start again by itself. ' : ' until it starts again, '}
      {resetsAt !== null && (
        <>
          <Moment at={resetsAt} />.{' '}
        </>
      )}
      {type === 'budget' ? (
        <PageLink to="/settings/budgets">Raise it under Budgets</PageLink>
      ) : (
        <>
          <PageLink to="/provider-keys">Set a provider key of your own</PageLink>, whose calls do
          not count, or ask the operator for another plan
        </>
      )}
      ; see{' '}
      <PageLink to="/logs" search={{ status: '429' }}>
        what was refused
      </PageLink>
      .
    </p>
  )
}

export function ExhaustedBadge({
  id,
  exhausted,
}: {
  readonly id: string
  readonly exhausted: readonly Exhausted[]
}) {
  return exhausted.some(({ of }) => of === id) ? (
    <span className="self-start">
      <Badge tone="danger">Budget used up</Badge>
    </span>
  ) : null
}
