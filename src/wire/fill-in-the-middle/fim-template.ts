/**
 * How a model that fills in the middle wants its prompt written, and writes it so. Knows no model:
 * templates are data.
 */
import { invalidRequest } from '../../core/errors.ts'

export interface FimTemplate {
  /** The part that comes first. */
  readonly order: 'prefix-first' | 'suffix-first'
  /** The token before each part, with the space that belongs to it. */
  readonly prefix: string
  readonly suffix: string
  /** Before what the model writes; empty where the last part ends the prompt. */
  readonly middle: string
  /** Tokens that the model writes when it is done, beside the three above. */
  readonly stop: readonly string[]
}

export interface Gap {
  readonly prompt: string
  readonly suffix: string
}

/**
 * The servers read such a prompt as tokens wherever they find them, so that text which holds one
 * would end its own part: the model would be asked something else, and nobody would notice.
 * @throws GatewayError `invalid_request` naming the member that holds one
 */
export function writeFimPrompt(template: FimTemplate, gap: Gap): string {
  const markers = markersOf(template)
  for (const member of ['prompt', 'suffix'] as const) {
    const found = markers.find((marker) => gap[member].includes(marker))
    if (found !== undefined) throw holdsMarker(member, found)
  }
  const before = template.prefix + gap.prompt
  const after = template.suffix + gap.suffix
  return (template.order === 'prefix-first' ? before + after : after + before) + template.middle
}

export function stopsOf(template: FimTemplate): readonly string[] {
  return [...template.stop, ...markersOf(template)]
}

function markersOf({ prefix, suffix, middle }: FimTemplate): readonly string[] {
  return [prefix, suffix, middle].map((marker) => marker.trim()).filter((marker) => marker !== '')
}

function holdsMarker(member: keyof Gap, marker: string) {
  return invalidRequest(
    `'${member}' holds ${marker}, by which the model of this target tells the code before the cursor from the code ` +
      'after it. A target whose server takes the two apart by itself (/infill, /fim/completions) can complete such a file.',
    member,
    'unsupported_content',
  )
}
