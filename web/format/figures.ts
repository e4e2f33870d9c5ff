/**
 * The pages are in English, and so are their figures: in some regions a million is `m`, which
 * elsewhere means a thousandth.
 */
const LOCALE = 'en-US'
const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumSignificantDigits: 3 })
const percent = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })
const smallPercent = new Intl.NumberFormat(LOCALE, {
  style: 'percent',
  maximumSignificantDigits: 2,
})

export const NOT_KNOWN = '–'

/** 1,234 up to 9,999; 12.3K above. */
export function formatCount(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOT_KNOWN
  return Math.abs(value) < 10_000 ? whole.format(value) : compact.format(value)
}

/** Every digit, with separators. */
export function formatWhole(value: number | null | undefined): string {
  return value === null || value === undefined ? NOT_KNOWN : whole.format(value)
}

/** US dollars: small amounts keep two significant digits, so that a call never seems to be free. */
export function formatUsd(value: number | null | undefined): string {
  return typeof value === 'number' && Math.abs(value) >= 10_000
    ? `$${whole.format(value)}`
    : formatUsdInCents(value)
}

const cents = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** US dollars with cents for large amounts too, so that the rest of a limit is visible. */
export function formatUsdInCents(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOT_KNOWN
  if (value === 0) return '$0'
  const size = Math.abs(value)
  if (size >= 1) return `$${cents.format(value)}`
  const digits = size < 0.01 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 3 }
  return `$${new Intl.NumberFormat(LOCALE, { minimumFractionDigits: size < 0.01 ? 0 : 2, ...digits }).format(value)}`
}

const billionths = new Intl.NumberFormat(LOCALE, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})

/** US dollars that someone set: every digit, since limits have at most nine decimals. */
export function formatUsdExactly(value: number): string {
  return value === 0 ? '$0' : `$${billionths.format(value)}`
}

export function formatDuration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return NOT_KNOWN
  if (milliseconds < 1) return '<1 ms'
  // Rounded before dividing, so that 60 seconds never appear beside a minute.
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1_000
  if (seconds < 59.95) return `${seconds < 9.995 ? seconds.toFixed(2) : seconds.toFixed(1)} s`
  const wholeSeconds = Math.round(seconds)
  const minutes = Math.floor(wholeSeconds / 60)
  if (minutes < 60) return `${minutes} min ${wholeSeconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function formatShare(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return NOT_KNOWN
  if (share > 0 && share < 0.0001) return '<0.01%'
  return (Math.abs(share) < 0.01 ? smallPercent : percent).format(share)
}

export function formatChange(
  now: number | null | undefined,
  before: number | null | undefined,
): string | undefined {
  if (typeof now !== 'number' || typeof before !== 'number' || before === 0) return undefined
  const change = now / before - 1
  if (Math.abs(change) < 0.0005) return '±0%'
  return `${change > 0 ? '+' : '−'}${formatShare(Math.abs(change))}`
}

/** US cents per million tokens, the form of owned models' prices. */
export function formatCentsPerMillion(cents: number): string {
  return `${formatUsd(cents / 100)} / 1M`
}
