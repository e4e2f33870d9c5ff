/** Writes the layer table as Markdown and puts the table between markers. */
import type { LayerTable } from './layer-rules.ts'

export function layerTableText(layers: LayerTable, roots: readonly string[]): string {
  const rows = Object.entries(layers).map(
    ([folder, { may, does }]) =>
      `| \`${folder}/\` | ${cell(does)} | ${may.map((name) => `\`${name}\``).join(', ') || '–'} |`,
  )
  const rootNames = roots.map((root) => `\`${root}\``).join(', ')
  return [
    '| folder under `src/` | what it is | may import |',
    '|---|---|---|',
    ...rows,
    `| ${rootNames} | where the program starts; nothing imports it | everything |`,
  ].join('\n')
}

/**
 * Undefined unless the text has the markers `<!-- name:start -->` and `<!-- name:end -->` in this
 * order.
 */
export function replaceBetweenMarkers(
  text: string,
  name: string,
  content: string,
): string | undefined {
  const start = `<!-- ${name}:start -->`
  const end = `<!-- ${name}:end -->`
  const startAt = text.indexOf(start)
  const endAt = text.indexOf(end, startAt)
  if (startAt < 0 || endAt < 0) return undefined
  return `${text.slice(0, startAt + start.length)}\n${content}\n${text.slice(endAt)}`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
