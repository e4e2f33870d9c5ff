import { useId } from 'react'
import type { Paint, PatternName } from './palette.ts'

/** Small enough for bars of a few pixels. */
const TILE_PX = 6
const LINE_PX = 1.25

const LINES: Readonly<Record<Exclude<PatternName, 'solid' | 'dots'>, string>> = {
  rising: 'M-1.5,1.5 l3,-3 M0,6 l6,-6 M4.5,7.5 l3,-3',
  level: 'M0,3 h6',
  falling: 'M-1.5,4.5 l3,3 M0,0 l6,6 M4.5,-1.5 l3,3',
  grid: 'M0,3 h6 M3,0 v6',
}

/** Placed in a drawing's definitions, so that `url(#id)` fills with the pattern. */
export function PaintPattern({
  id,
  paint: { color, pattern },
}: {
  readonly id: string
  readonly paint: Paint
}) {
  return (
    <pattern
      id={id}
      data-pattern={pattern}
      width={TILE_PX}
      height={TILE_PX}
      patternUnits="userSpaceOnUse"
    >
      <rect width={TILE_PX} height={TILE_PX} fill={color} />
      {pattern === 'dots' && <circle cx={3} cy={3} r={1.4} fill="var(--surface)" />}
      {pattern !== 'dots' && pattern !== 'solid' && (
        <path d={LINES[pattern]} fill="none" stroke="var(--surface)" strokeWidth={LINE_PX} />
      )}
    </pattern>
  )
}

export function PaintSample({
  paint,
  className,
}: {
  readonly paint: Paint
  readonly className: string
}) {
  const id = useId()
  return (
    <svg aria-hidden="true" className={`block shrink-0 ${className}`}>
      <defs>
        <PaintPattern id={id} paint={paint} />
      </defs>
      <rect width="100%" height="100%" rx={2} fill={`url(#${id})`} />
    </svg>
  )
}

export function LineSample({
  color,
  dashes,
}: {
  readonly color: string
  readonly dashes: string | undefined
}) {
  return (
    <svg aria-hidden="true" className="block h-2 w-6 shrink-0">
      <line x1="0" y1="4" x2="24" y2="4" stroke={color} strokeWidth={2} strokeDasharray={dashes} />
    </svg>
  )
}
