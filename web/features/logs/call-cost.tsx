/**
 * The use and cost of a call: tokens, each kind at its price, and how far the sum can be relied on.
 */
import type { AnswerOf } from '../../api/ask.ts'
import { formatUsd, formatWhole, NOT_KNOWN } from '../../format/figures.ts'
import { Skeleton } from '../../ui/states.tsx'
import type { Log } from './log-filter.ts'

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

/** By the million; the others by the piece. */
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

export function CallUsage({ log }: { readonly log: Log }) {
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
  exact: 'Exact: the model’s own price times what the provider reported, or the cost it reported.',
  estimated:
    'Estimated: the price of a model like it, a report that does not tell all, or tools that the provider runs.',
  unknown:
    'Unknown: there is no price for this model, or the provider reported no tokens. It is in no sum.',
}

function whyNoParts(source: string): string {
  return source.endsWith('+answered')
    ? ' Other models than the target’s answered, so its parts are not shown.'
    : ' That price is no longer there, so its parts are not shown.'
}

/** @param parts undefined: they are on their way */
export function CallCost({
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
