/** Facts of a model as text, for the table and the comparison. */
import type { ReactNode } from 'react'
import { formatCount, formatUsd, NOT_KNOWN } from '../../format/figures.ts'
import { Badge } from '../../ui/badge.tsx'
import type { ModelRow } from './model-rows.ts'

export function PriceText({ row }: { readonly row: ModelRow }) {
  if (row.type === 'gate') return <span className="text-ink-faint">by target</span>
  const { inputUsd, outputUsd, cachedInputUsd } = row
  if (inputUsd === null && outputUsd === null) return <Badge tone="warn">no known price</Badge>
  if (inputUsd === 0 && outputUsd === 0) return 'free'
  return (
    <>
      <span className="whitespace-nowrap text-ink">
        {formatUsd(inputUsd)} / {formatUsd(outputUsd)}
      </span>
      {cachedInputUsd !== null && cachedInputUsd !== inputUsd && (
        <span className="block text-xs whitespace-nowrap text-ink-faint">
          cached {formatUsd(cachedInputUsd)}
        </span>
      )}
      {row.isPriceEstimated && (
        <span className="block" title="The price, or a part of it, is that of a similar model.">
          <Badge>estimated</Badge>
        </span>
      )}
    </>
  )
}

export function ContextText({ row }: { readonly row: ModelRow }) {
  if (row.contextTokens === null && row.maxOutputTokens === null) return NOT_KNOWN
  return (
    <>
      <span className="whitespace-nowrap text-ink">{formatCount(row.contextTokens)}</span>
      {row.maxOutputTokens !== null && (
        <span className="block text-xs whitespace-nowrap text-ink-faint">
          output {formatCount(row.maxOutputTokens)}
        </span>
      )}
    </>
  )
}

/** `text, image → text`; undefined where nothing is known. */
export function describeModalities({
  inputModalities,
  outputModalities,
}: ModelRow): string | undefined {
  if (inputModalities === null && outputModalities === null) return undefined
  const list = (words: readonly string[] | null) => words?.join(', ') ?? NOT_KNOWN
  return `${list(inputModalities)} → ${list(outputModalities)}`
}

/** Undefined where nothing is known. */
export function describeEfforts({ reasoningEfforts }: ModelRow): string | undefined {
  if (reasoningEfforts === null) return undefined
  return reasoningEfforts.length === 0 ? 'none' : reasoningEfforts.join(', ')
}

export function CredentialBadge({ row }: { readonly row: ModelRow }): ReactNode {
  if (row.type === 'gate') return <span className="text-ink-faint">by target</span>
  if (row.credential === 'own') return <Badge tone="accent">your key</Badge>
  if (row.credential === 'platform') return <Badge tone="ok">platform’s key</Badge>
  return <Badge>no key</Badge>
}

/** A plain string, because the page belongs to another feature. */
export const NEW_GATE: string = '/gates/new'

export function describeSource({ type, priceSource }: ModelRow): string {
  if (type === 'gate') return 'its targets'
  if (type === 'owned') return 'the owned model'
  if (priceSource === null) return NOT_KNOWN
  if (priceSource.startsWith('overlay:')) return 'the operator’s entry'
  if (priceSource === 'configured') return 'the operator’s provider'
  return priceSource
}
