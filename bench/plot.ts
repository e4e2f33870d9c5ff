/** Plots the cost of a call over the size of its body. */
import type { Figures } from './report.ts'

const BODIES = ['1 KB', '20 KB', '200 KB', '1 MB'] as const
const COLOURS: Readonly<Record<string, string>> = {
  nginx: '#5b8a3c',
  'bare fetch': '#8a7aa8',
  'bare sockets': '#4f8f8a',
  gatehouse: '#c2511a',
  portkey: '#3a6ea5',
  litellm: '#a5853a',
}
const WIDTH = 720
const HEIGHT = 400
const PLOT = { left: 64, right: 596, top: 52, bottom: 344 }
/** Powers of ten of microseconds. */
const LOWEST = 1
const HIGHEST = 5

export function plotCost(figures: Figures): string {
  const x = (index: number) =>
    PLOT.left + 24 + (index * (PLOT.right - PLOT.left - 48)) / (BODIES.length - 1)
  const y = (micros: number) =>
    PLOT.bottom - ((Math.log10(micros) - LOWEST) / (HIGHEST - LOWEST)) * (PLOT.bottom - PLOT.top)
  const grid = Array.from({ length: HIGHEST - LOWEST + 1 }, (_, decade) => {
    const micros = 10 ** (LOWEST + decade)
    const at = y(micros).toFixed(1)
    const label = micros >= 1000 ? `${micros / 1000} ms` : `${micros} µs`
    return `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${at}" y2="${at}" stroke="#e3ded4"/><text x="${PLOT.left - 8}" y="${Number(at) + 4}" text-anchor="end">${label}</text>`
  })
  const columns = BODIES.map(
    (body, index) =>
      `<text x="${x(index).toFixed(1)}" y="${PLOT.bottom + 22}" text-anchor="middle">${body}</text>`,
  )
  const series = Object.entries(COLOURS).flatMap(([name, colour]) => {
    const points = BODIES.flatMap((body, index) => {
      const micros = figures[`${body}, 64 connections: CPU µs a call`]?.[name]
      return micros === undefined ? [] : [{ x: x(index), y: y(micros), micros }]
    })
    const last = points.at(-1)
    if (last === undefined) return []
    const line = points.map((point) => `${point.x.toFixed(1)},${point.y.toFixed(1)}`).join(' ')
    const dots = points.map(
      (point) =>
        `<circle cx="${point.x.toFixed(1)}" cy="${point.y.toFixed(1)}" r="4" fill="${colour}"><title>${name}: ${Math.round(point.micros)} µs</title></circle>`,
    )
    return [
      `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2.5"/>`,
      ...dots,
      `<text x="${(last.x + 12).toFixed(1)}" y="${(last.y + 4).toFixed(1)}" fill="${colour}" font-weight="600">${name}</text>`,
    ]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Processor time of a call by the size of its body" font-family="system-ui, sans-serif" font-size="13" fill="#4a463f">
<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="#fbf9f5"/>
<text x="20" y="30" font-size="16" font-weight="600" fill="#2b2823">Processor time of a call, by the size of its body (lower is better)</text>
${[...grid, ...columns, ...series].join('\n')}
<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 44}" text-anchor="middle">request body</text>
</svg>
`
}
