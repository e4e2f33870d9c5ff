import { CircleCheck, CircleHelp, Hourglass, type LucideIcon, TriangleAlert } from 'lucide-react'
import { formatDuration } from '../../format/figures.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Moment } from '../../ui/moment.tsx'
import type { OwnedModel } from './draft.ts'
import type { LastCall } from './latest-news.ts'

export type Probe = NonNullable<OwnedModel['probe']>
type Status = Probe['status']

interface Look {
  readonly tone: Extract<Tone, 'ok' | 'warn' | 'neutral'>
  readonly icon: LucideIcon
  readonly title: string
  readonly savedTitle: string
  readonly word: string
}

const LOOKS: Readonly<Record<Status, Look>> = {
  reachable: {
    tone: 'ok',
    icon: CircleCheck,
    title: 'The model answers',
    savedTitle: 'Saved, and the model answers',
    word: 'answers',
  },
  unreachable: {
    tone: 'warn',
    icon: TriangleAlert,
    title: 'The model did not answer',
    savedTitle: 'Saved, but the model did not answer',
    word: 'does not answer',
  },
  loading: {
    tone: 'neutral',
    icon: Hourglass,
    title: 'The model is being loaded',
    savedTitle: 'Saved, and the model is being loaded',
    word: 'loading',
  },
  checking: {
    tone: 'neutral',
    icon: Hourglass,
    title: 'The model is being asked',
    savedTitle: 'Saved, and the model is being asked',
    word: 'checking',
  },
  unknown: {
    tone: 'neutral',
    icon: CircleHelp,
    title: 'Whether the model answers is not known',
    savedTitle: 'Saved; whether the model answers is not known',
    word: 'not known',
  },
}

const BACKGROUNDS = { ok: 'bg-ok-soft', warn: 'bg-warn-soft', neutral: 'bg-sunken' } as const
const INKS = { ok: 'text-ok', warn: 'text-warn', neutral: 'text-ink' } as const

export function isUnderWay(probe: Probe | null | undefined): boolean {
  return probe?.status === 'checking' || probe?.status === 'loading'
}

export function StateOfModel({
  probe,
  lastCall,
}: {
  readonly probe: Probe | null
  readonly lastCall: LastCall | undefined
}) {
  const { tone, word } =
    lastCall === undefined ? LOOKS[probe?.status ?? 'unknown'] : lookOf(lastCall)
  const at = lastCall?.at ?? probe?.checkedAt
  return (
    <>
      <Badge tone={tone} hasDot>
        {word}
      </Badge>
      {at !== undefined && (
        <span className="mt-0.5 block text-[13px] whitespace-nowrap text-ink-faint">
          {lastCall === undefined ? 'tried' : 'called'} <Moment at={at} />
        </span>
      )}
    </>
  )
}

const CALL_FAILED = {
  ...LOOKS.unreachable,
  title: 'The last call failed',
  word: 'last call failed',
}

function lookOf({ failure }: LastCall): Look {
  return failure === null ? LOOKS.reachable : CALL_FAILED
}

export function LastCallNote({ lastCall }: { readonly lastCall: LastCall }) {
  const { tone, icon: Icon, title } = lookOf(lastCall)
  const { failure } = lastCall
  return (
    <div
      role={tone === 'warn' ? 'alert' : 'status'}
      className={classNames('flex gap-3 rounded-lg px-4 py-3 text-[13px]', BACKGROUNDS[tone])}
    >
      <Icon aria-hidden className={classNames('mt-0.5 size-4 shrink-0', INKS[tone])} />
      <div className="min-w-0">
        <p className={classNames('font-semibold', INKS[tone])}>{title}</p>
        <p className="mt-0.5 text-ink">
          {failure === null ? (
            'It answered the last call, '
          ) : (
            <>
              <code className="font-mono">{failure.code}</code> ({failure.status}),{' '}
            </>
          )}
          <Moment at={lastCall.at} />.
        </p>
      </div>
    </div>
  )
}

export function ProbeNote({
  probe,
  isSaved = false,
}: {
  readonly probe: Probe
  readonly isSaved?: boolean
}) {
  const { tone, icon: Icon, title, savedTitle } = LOOKS[probe.status]
  const has = alsoFound(probe)
  const fimEndpoint = probe.found?.fimEndpoint
  return (
    <div
      role={tone === 'warn' ? 'alert' : 'status'}
      className={classNames('flex gap-3 rounded-lg px-4 py-3 text-[13px]', BACKGROUNDS[tone])}
    >
      <Icon aria-hidden className={classNames('mt-0.5 size-4 shrink-0', INKS[tone])} />
      <div className="min-w-0">
        <p className={classNames('font-semibold', INKS[tone])}>{isSaved ? savedTitle : title}</p>
        {probe.detail !== undefined && <p className="mt-0.5 text-ink">{probe.detail}</p>}
        {probe.status === 'checking' && (
          <p className="mt-0.5 text-ink">
            The test of a model that must be loaded first may take a minute.
          </p>
        )}
        <dl className="mt-1.5 grid grid-cols-2 gap-x-5 gap-y-0.5 text-ink-soft tabular-nums">
          <Fact term="Result" value={probe.status} />
          {probe.status !== 'checking' && (
            <>
              <Fact
                term="HTTP status"
                value={probe.httpStatus === undefined ? 'no answer' : String(probe.httpStatus)}
              />
              <Fact term="Took" value={formatDuration(probe.latencyMs)} />
            </>
          )}
          <div className="flex gap-1.5">
            <dt>Tried</dt>
            <dd className="text-ink">
              <Moment at={probe.checkedAt} />
            </dd>
          </div>
          {fimEndpoint !== undefined && <Fact term="In the middle" value={fimEndpoint} />}
          {has !== '' && <Fact term="Has too" value={has} />}
        </dl>
      </div>
    </div>
  )
}

function alsoFound({ found }: Probe): string {
  return [
    ...(found?.embeddings === true ? ['embeddings'] : []),
    ...(found?.countTokens === true ? ['token counting'] : []),
  ].join(', ')
}

function Fact({ term, value }: { readonly term: string; readonly value: string }) {
  return (
    <div className="flex gap-1.5">
      <dt>{term}</dt>
      <dd className="text-ink">{value}</dd>
    </div>
  )
}
