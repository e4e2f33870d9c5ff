/**
 * Finds fenced code in an answer; everything else stays the text that it is. Pure: nothing becomes
 * HTML.
 */

export type Segment =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly language: string; readonly text: string }

/**
 * https://spec.commonmark.org/0.31.2/#fenced-code-blocks: a fence that is not closed yet reaches to
 * the end.
 */
const OPENING = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})\s*(\S*)/

/** A model in a loop can write tens of thousands, each of which the page draws with a button. */
const MAX_SEGMENTS = 500

export function splitFences(text: string): readonly Segment[] {
  const segments: Segment[] = []
  let lines: string[] = []
  let fence: { readonly marker: string; readonly language: string } | undefined
  const end = () => {
    const joined = lines.join('\n')
    if (fence !== undefined) segments.push({ type: 'code', language: fence.language, text: joined })
    else if (joined.trim() !== '') segments.push({ type: 'text', text: trimLines(joined) })
    lines = []
  }
  for (const line of text.split('\n')) {
    if (fence !== undefined && isClosing(line, fence.marker)) {
      end()
      fence = undefined
      continue
    }
    const mayOpen = fence === undefined && segments.length < MAX_SEGMENTS
    const opening = mayOpen ? OPENING.exec(line) : null
    if (opening !== null) {
      end()
      fence = { marker: opening[1] ?? '', language: opening[2] ?? '' }
      continue
    }
    lines.push(line)
  }
  end()
  return segments
}

function isClosing(line: string, marker: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1]
  return found !== undefined && found[0] === marker[0] && found.length >= marker.length
}

/** The lines around a block of code are drawn as a gap already. */
function trimLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').replace(/(?:\n[^\S\n]*)+$/, '')
}
