import { type KeyboardEvent, type MouseEvent, useRef, useState } from 'react'
import type { LogAddress } from '../../format/calls-behind.ts'
import type { ChartSeries } from './chart-series.ts'

export type AddressOf = (startMs: number, seriesKey: string | undefined) => LogAddress

export interface StepLinks {
  readonly chosenKey: string | undefined
  readonly stand: (startMs: number | undefined) => void
  readonly press: (event: KeyboardEvent) => void
  readonly click: (event: MouseEvent, startMs: number, seriesKey?: string) => void
  readonly clickHere: (event: MouseEvent) => void
}

/**
 * The library handles left and right; up and down choose a series, Enter opens the series' calls.
 */
export function useStepLinks(
  series: readonly ChartSeries[],
  open: ((startMs: number, seriesKey: string | undefined) => void) | undefined,
): StepLinks {
  const at = useRef<number>(undefined)
  const shouldOpen = useSecondTap()
  const [wantedKey, setWantedKey] = useState<string>()
  const keys = series.filter(({ look }) => look === 'stack').map(({ key }) => key)
  const chosenKey = wantedKey !== undefined && keys.includes(wantedKey) ? wantedKey : undefined
  const press = (event: KeyboardEvent) => {
    if (open === undefined) return
    if (event.key === 'Enter' && at.current !== undefined) open(at.current, chosenKey)
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      // From the bottom, as stacked; all series together follow the last series.
      const choices = [undefined, ...keys]
      const by = event.key === 'ArrowUp' ? 1 : choices.length - 1
      setWantedKey(choices[(choices.indexOf(chosenKey) + by) % choices.length])
    } else return
    event.preventDefault()
  }
  const click = (event: MouseEvent, startMs: number, seriesKey?: string) => {
    if (shouldOpen(event, `${startMs} ${seriesKey}`)) open?.(startMs, seriesKey)
  }
  return {
    chosenKey,
    stand: (startMs) => {
      at.current = startMs
    },
    press,
    click,
    clickHere: (event) => {
      if (at.current !== undefined) click(event, at.current)
    },
  }
}

/**
 * The first tap shows the figures, like hovering; a second tap at the same place follows the link.
 */
export function useSecondTap(): (event: MouseEvent, place: string) => boolean {
  const tapped = useRef<string>(undefined)
  return ({ nativeEvent }, place) => {
    const isFinger = 'pointerType' in nativeEvent && nativeEvent.pointerType === 'touch'
    const isSecond = tapped.current === place
    tapped.current = place
    return !isFinger || isSecond
  }
}
