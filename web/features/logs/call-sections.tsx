import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FlaskConical } from 'lucide-react'
import type { ReactNode } from 'react'
import { CALL_FACTS, type CallFact } from '../../../src/contract/call-facts.ts'
import type { AnswerOf } from '../../api/ask.ts'
import { wholeListQuery } from '../../api/operation-query.ts'
import { formatDuration, formatUsd, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { nameOfCaller, nameOfUser } from '../../format/group-name.ts'
import { LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { PageLink } from '../../ui/links.tsx'
import { DateTime } from '../../ui/moment.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { CallTiming } from './call-timing.tsx'
import { explainError, readSentGate } from './explain-error.ts'
import { type Log, NO_GATE } from './log-filter.ts'

export function CallSections({
  log,
  details,
}: {
  readonly log: Log
  readonly details: AnswerOf<'GET /v1/logs/{id}'> | undefined
}) {
  const isGate = log.gateId !== NO_GATE
  const gatePath = `/gates/${encodeURIComponent(log.gateId)}`
  return (
    <div className="divide-y divide-line">
      <Explanation log={log} />
      <Section title="Request">
        <dl className="flex flex-col gap-1.5 text-[13px]">
          <Fact name="Id">
            <span className="flex items-center gap-1">
              <code className="min-w-0 font-mono text-[11px] break-all">{log.id}</code>
              <CopyButton text={log.id} label="Copy the id" />
            </span>
          </Fact>
          <Fact name="Started">
            <DateTime at={log.startedAt} />
          </Fact>
          <Fact name="Duration">
            {formatDuration(log.durationMs)}
            {log.firstByteMs !== null && `, first token after ${formatDuration(log.firstByteMs)}`}
          </Fact>
          <Fact name="Gate">
            {isGate ? (
              <Link to={gatePath} className="text-accent-strong hover:underline">
                {log.gateId}
              </Link>
            ) : (
              <MissingGate log={log} />
            )}
          </Fact>
          <CallFacts log={log} />
          <RefusedByFact log={log} />
          <SteeredByFact log={log} />
          <Fact name="Key">
            <span className="flex min-w-0 items-center gap-1">
              <span className="truncate" title={log.keyId}>
                {nameOfCaller(log.keyId, log.keyName)}
              </span>
              <CopyButton text={log.keyId} label="Copy the key’s id" />
            </span>
          </Fact>
          <CallerFacts log={log} />
          <Fact name="Format">
            {log.dialect}, {log.stream ? 'stream' : 'whole answer'}
          </Fact>
        </dl>
        {isGate && (
          <LinkButton
            to={'/playground' as string}
            search={{ gate: log.gateId } as never}
            size="small"
            className="mt-3"
          >
            <FlaskConical aria-hidden className="size-3.5" />
            Open in playground
          </LinkButton>
        )}
      </Section>
      <Section title="Timing" note={log.attempts > 1 ? `${log.attempts} attempts` : undefined}>
        <CallTiming log={log} />
      </Section>
      <Section title="Tokens">
        <CallUsage log={log} />
      </Section>
      <Section title="Cost">
        <CallCost log={log} parts={details?.cost.parts} />
      </Section>
    </div>
  )
}

function Section({
  title,
  note,
  children,
}: {
  readonly title: string
  readonly note?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <section className="px-4 py-4">
      <h3 className="mb-2.5 flex justify-between text-xs font-medium text-ink-faint">
        {title}
        {note !== undefined && <span>{note}</span>}
      </h3>
      {children}
    </section>
  )
}

function CallerFacts({ log }: { readonly log: Log }) {
  const { user, session, agent, tags } = log
  const names = log.tagNames?.split(' ') ?? []
  return (
    <>
      {user != null && (
        <Fact name="User">
          <PageLink to={`/people/${encodeURIComponent(user)}`}>
            {nameOfUser(user, log.userName)}
          </PageLink>
        </Fact>
      )}
      {session != null && (
        <Fact name="Session">
          <PageLink to={`/sessions/${session}`} className="font-mono text-[12px]">
            {session}
          </PageLink>
        </Fact>
      )}
      {session != null && agent != null && (
        <Fact name="Agent">
          <PageLink to="/logs" search={{ session, agent }} className="font-mono text-[12px]">
            {agent}
          </PageLink>
        </Fact>
      )}
      {tags != null && (
        <Fact name="Tags">
          <span className="flex flex-wrap gap-x-2">
            {tags.split(' ').map((tag, index) => (
              <PageLink key={tag} to="/logs" search={{ tag: names[index] ?? tag }}>
                {names[index] ?? tag}
              </PageLink>
            ))}
          </span>
        </Fact>
      )}
    </>
  )
}

/** Plain text instead of a link, because the reader looks for a mistake in the id. */
function MissingGate({ log }: { readonly log: Log }) {
  const sent = readSentGate(log)
  if (sent === undefined) return 'none that there is'
  if (sent.id === undefined) return `none; sent was ${sent.words}`
  return (
    <>
      none has the id <code className="font-mono text-[12px] break-all">{sent.id}</code> that was
      sent
    </>
  )
}

function Explanation({ log }: { readonly log: Log }) {
  const explanation = explainError(log.outcome, log.errorKind)
  if (explanation === undefined) return null
  const isFailure = log.outcome === 'failed'
  return (
    <div className={isFailure ? 'bg-danger-soft px-4 py-3.5' : 'bg-warn-soft px-4 py-3.5'}>
      <p
        className={
          isFailure ? 'text-[13px] font-medium text-danger' : 'text-[13px] font-medium text-warn'
        }
      >
        {explanation.means}
      </p>
      <p className="mt-1 text-[13px] text-ink">{explanation.cure}</p>
    </div>
  )
}

type Details = AnswerOf<'GET /v1/logs/{id}'>
type Part = NonNullable<Details['cost']['parts']>[number]

const PART_NAMES: Readonly<Record<Part['kind'], string>> = {
  input: 'Input',
  cachedInput: 'Cached input',
  cacheWrite: 'Written to cache',
  cacheWriteHour: 'For an hour there',
  inputAudio: 'As audio input',
  cachedInputAudio: 'As cached audio',
  outputAudio: 'As audio output',
  output: 'Output',
  reasoning: 'Reasoning',
  request: 'The request',
  webSearch: 'Web searches',
  fileSearch: 'File searches',
  codeInterpreter: 'Code interpreter',
  imageGeneration: 'Generated images',
  otherTool: 'Other tools of the vendor',
}

/** Kinds priced per million tokens; other kinds are priced per unit. */
const TOKENS: ReadonlySet<Part['kind']> = new Set<Part['kind']>([
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWriteHour',
  'inputAudio',
  'cachedInputAudio',
  'outputAudio',
  'output',
  'reasoning',
])

function CallUsage({ log }: { readonly log: Log }) {
  const { usage } = log
  if (usage === null) {
    return <p className="text-[13px] text-ink-soft">The provider reported no tokens.</p>
  }
  const streamedMs = log.stream && log.firstByteMs !== null ? log.durationMs - log.firstByteMs : 0
  const perSecond = streamedMs >= 100 ? (usage.outputTokens / streamedMs) * 1_000 : undefined
  const rows: readonly (readonly [name: string, value: string, isPart: boolean])[] = [
    ['Input', formatWhole(usage.inputTokens), false],
    ['from cache', formatWhole(usage.cachedInputTokens), true],
    ...(usage.cacheWriteTokens === undefined
      ? []
      : [['written to cache', formatWhole(usage.cacheWriteTokens), true] as const]),
    ['Output', formatWhole(usage.outputTokens), false],
    ['reasoning', formatWhole(usage.reasoningTokens), true],
    ...(perSecond === undefined
      ? []
      : [['Output per second', formatWhole(perSecond), false] as const]),
  ]
  return (
    <dl className="text-[13px]">
      {rows.map(([name, value, isPart]) => (
        <div key={name} className="flex justify-between gap-4 py-0.5">
          <dt className={isPart ? 'pl-4 text-ink-faint' : 'text-ink-soft'}>{name}</dt>
          <dd className={isPart ? 'text-ink-soft tabular-nums' : 'text-ink tabular-nums'}>
            {value}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const CERTAINTY: Readonly<Record<Details['cost']['status'], string>> = {
  exact:
    'The cost is exact: the model’s own price times the reported tokens, or the cost that the provider reported.',
  estimated:
    'The cost is estimated: from the price of a similar model, from an incomplete report, or with tools that the provider runs.',
  unknown:
    'The cost is unknown, because the model has no price or the provider reported no tokens. Sums do not include this call.',
}

function whyNoParts(source: string): string {
  return source.endsWith('+answered')
    ? ' Other models than the target’s answered, so the parts of the cost are not shown.'
    : ' The price of that time is no longer available, so the parts of the cost are not shown.'
}

function CallCost({
  log,
  parts,
}: {
  readonly log: Log
  readonly parts: Details['cost']['parts'] | undefined
}) {
  const { cost } = log
  if (cost.source === 'not-sent') {
    return <p className="text-[13px] text-ink-soft">$0, for no request reached a provider.</p>
  }
  if (cost.source === 'free') {
    return (
      <p className="text-[13px] text-ink-soft">
        $0, for {log.target === null ? 'no provider was asked.' : 'such a call costs nothing.'}
      </p>
    )
  }
  return (
    <div className="flex flex-col gap-2">
      {parts === undefined && cost.usd !== null && <Skeleton className="h-16 w-full" />}
      {parts !== undefined && parts !== null && parts.length > 0 && (
        <table className="w-full text-[13px] tabular-nums">
          <thead className="sr-only">
            <tr>
              <th scope="col">What</th>
              <th scope="col">Count and price</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {parts.map(({ kind, count, usdPerMillion, usd }) => (
              <tr key={kind}>
                <th scope="row" className="py-0.5 text-left font-normal text-ink-soft">
                  {PART_NAMES[kind]}
                </th>
                <td className="py-0.5 text-right text-ink-faint">
                  {TOKENS.has(kind)
                    ? `${formatWhole(count)} × ${formatUsd(usdPerMillion)} / 1M`
                    : `${formatWhole(count)} × ${formatUsd(usdPerMillion / 1_000_000)}`}
                </td>
                <td className="py-0.5 pl-4 text-right text-ink">{formatUsd(usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="flex justify-between gap-4 border-t border-line pt-2 text-[13px] font-medium text-ink">
        <span>Cost</span>
        <span className="tabular-nums">{cost.usd === null ? NOT_KNOWN : formatUsd(cost.usd)}</span>
      </p>
      <p className="text-xs text-ink-faint">
        {CERTAINTY[cost.status]}
        {cost.source !== null && ` Price: ${cost.source}.`}
        {parts === null && cost.usd !== null && whyNoParts(cost.source ?? '')}
      </p>
    </div>
  )
}

function CallFacts({ log }: { readonly log: Log }) {
  return CALL_FACTS.map((fact) => {
    const told = tellFact(fact, log[fact.name])
    return (
      told !== undefined && (
        <Fact key={fact.name} name={fact.title}>
          {told}
        </Fact>
      )
    )
  })
}

/** @param value undefined from an earlier version of the gateway */
export function tellFact(
  { type, words, without }: Omit<CallFact, 'name'>,
  value: string | number | boolean | null | undefined,
): ReactNode {
  if (value === undefined) return undefined
  if (value === null) return without
  const word = words?.[String(value)]
  if (word !== undefined) return word
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return type === 'moment' ? <DateTime at={value} /> : value
  if (type === 'durationMs') return formatDuration(value)
  return type === 'httpStatus' ? String(value) : formatWhole(value)
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="grid grid-cols-[5.5rem_minmax(0,1fr)] items-center gap-2">
      <dt className="text-ink-soft">{name}</dt>
      <dd className="min-w-0 break-words text-ink">{children}</dd>
    </div>
  )
}

const LIMITS: Readonly<Record<string, string>> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  concurrent_calls: 'concurrent calls',
  monthly_tokens: 'the monthly quota of tokens',
  monthly_spend: 'the monthly quota of spend',
}
const BUDGET_ID = /^bud_/

function useLimitName(limit: string | null | undefined): string | undefined {
  const isBudget = limit != null && BUDGET_ID.test(limit)
  const budgets = useQuery({ ...wholeListQuery('GET /v1/budgets'), enabled: isBudget })
  if (limit == null) return undefined
  if (!isBudget) return LIMITS[limit] ?? limit
  const name = budgets.data?.find(({ id }) => id === limit)?.name
  if (name !== undefined) return `budget “${name}”`
  return budgets.isPending ? 'a budget' : `budget ${limit} (deleted)`
}

export function RefusedBy({ log, without }: { readonly log: Log; readonly without: string }) {
  const name = useLimitName(log.refusedBy)
  return (
    <span title={name ?? without} className="truncate text-ink-soft">
      {name === undefined ? without : `by ${name}`}
    </span>
  )
}

const STEERED: Readonly<Record<string, string>> = {
  cheaper: 'to a cheaper target',
  'free-only': 'to a free target',
  preferred: 'to the target for this share of it',
  kept: 'later: the turn kept its target',
}

function SteeredByFact({ log }: { readonly log: Log }) {
  const [budget, action = ''] = log.steeredBy?.split('; ') ?? []
  const name = useLimitName(budget)
  if (name === undefined) return null
  return (
    <Fact name="Steered by">
      <PageLink to="/settings/budgets">{name}</PageLink>, {STEERED[action] ?? action}
    </Fact>
  )
}

function RefusedByFact({ log }: { readonly log: Log }) {
  const name = useLimitName(log.refusedBy)
  if (name === undefined) return null
  const page = BUDGET_ID.test(log.refusedBy ?? '') ? '/settings/budgets' : '/settings/limits'
  return (
    <Fact name="Refused by">
      <PageLink to={page}>{name}</PageLink>
    </Fact>
  )
}
