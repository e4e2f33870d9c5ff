/** The fate of a feature, in a word, with its meaning on hovering. */
import type { Verdict } from '../../../src/contract/conformance-features.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'

interface VerdictLook {
  readonly tone: Tone
  readonly means: string
}

export const VERDICT_LOOKS: Readonly<Record<Verdict, VerdictLook>> = {
  relayed: { tone: 'accent', means: 'The bytes pass through as they are.' },
  lossless: { tone: 'ok', means: 'It is translated, and arrives whole.' },
  lossy: { tone: 'warn', means: 'The target has no place for it: it is left out or changed.' },
  refused: { tone: 'danger', means: 'The request is refused with status 400.' },
  absent: { tone: 'neutral', means: 'The target has nothing of the kind.' },
}

export function VerdictBadge({
  verdict,
  count,
}: {
  readonly verdict: Verdict
  readonly count?: number
}) {
  const { tone, means } = VERDICT_LOOKS[verdict]
  return (
    <span title={means}>
      <Badge tone={tone}>
        {count !== undefined && <span className="tabular-nums">{count}</span>}
        {verdict}
      </Badge>
    </span>
  )
}
