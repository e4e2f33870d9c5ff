/**
 * One target's health: the word in a badge, the sentence behind it for those who hover or listen.
 */
import { Badge } from '../../ui/badge.tsx'
import { useTimeZone } from '../../ui/use-time-zone.ts'
import { describeHealth, type TargetHealth } from './describe-health.ts'

export function HealthBadge({ health }: { readonly health: TargetHealth | undefined }) {
  const { tone, word, sentence } = describeHealth(health, Date.now(), useTimeZone())
  return (
    <span title={sentence} className="relative shrink-0">
      <Badge tone={tone} hasDot>
        {word}
      </Badge>
      <span className="sr-only"> {sentence}</span>
    </span>
  )
}
