import type { RowOf } from '../api/ask.ts'
import { formatDuration } from '../format/figures.ts'
import type { TimeZone } from '../format/time-zone.ts'
import { formatDayTime, formatRelative } from '../format/times.ts'
import { Badge, type Tone } from './badge.tsx'
import { useTimeZone } from './use-time-zone.ts'

export type TargetHealth = RowOf<'GET /v1/targets/health'> & {
  /** When the reporting node started; undefined from an earlier version. */
  readonly seenSince?: string | undefined
}

interface HealthWords {
  readonly tone: Tone
  readonly word: string
  readonly sentence: string
}

export function describeHealth(
  health: TargetHealth | undefined,
  now: number,
  zone: TimeZone,
): HealthWords {
  if (health === undefined)
    return { tone: 'neutral', word: 'not saved yet', sentence: 'Not saved yet.' }
  if (!health.configured) {
    return {
      tone: 'danger',
      word: 'no key',
      sentence: 'The provider has no key, so the target is skipped.',
    }
  }
  const failed = describeFailure(health, now)
  switch (health.state) {
    case 'unknown':
      return describeUnseen(health, now, zone)
    case 'healthy':
      return {
        tone: 'ok',
        word: 'healthy',
        sentence: `First byte after ${formatDuration(health.averageFirstByteMs)} on average.${failed}`,
      }
    case 'failing':
      return {
        tone: 'warn',
        word: 'failing',
        sentence: `Failed ${inARow(health.failuresInARow)}; still asked in its turn.${failed}`,
      }
    case 'resting': {
      const leftMs = Date.parse(health.restsUntil ?? '') - now
      const left = leftMs > 0 ? ` ${Math.ceil(leftMs / 1000)} s` : ''
      return {
        tone: 'danger',
        word: `resting${left}`,
        sentence: `Asked last after failing ${inARow(health.failuresInARow)}.${failed}`,
      }
    }
    case 'probing':
      return {
        tone: 'warn',
        word: 'probing',
        sentence: `The pause is over; one call checks whether it works again.${failed}`,
      }
  }
}

function describeUnseen(health: TargetHealth, now: number, zone: TimeZone): HealthWords {
  // The gateway forgot the reason together with the failed credential.
  if (health.lastFailure !== null) {
    const sentence = `Not called since its credential was changed.${describeFailure(health, now)}`
    return { tone: 'neutral', word: 'not seen since the change', sentence }
  }
  return {
    tone: 'neutral',
    word: 'not seen since restart',
    sentence: `No call to this target since the restart of this node${tellWhen(health.seenSince, now, zone)}.`,
  }
}

function tellWhen(time: string | undefined, now: number, zone: TimeZone): string {
  return time === undefined ? '' : `, ${formatDayTime(time, zone)} (${formatRelative(time, now)})`
}

function describeFailure({ lastFailure }: TargetHealth, now: number): string {
  if (lastFailure === null) return ''
  return (
    ` Last failure: ${lastFailure.code} (${lastFailure.status}), ` +
    `${formatRelative(lastFailure.at, now)}.`
  )
}

function inARow(count: number): string {
  return count === 1 ? 'the last time' : `${count} times in a row`
}

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
