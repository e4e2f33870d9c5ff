import { ANSWER_KINDS } from './answer-kinds.ts'
import failedBefore from './failed-before.json' with { type: 'json' }
import { FAILURE_KINDS } from './failure-kinds.ts'
import type { Kind } from './kind.ts'
import { type Cell, GRID_CALLERS, GRID_UPSTREAMS } from './pairs.ts'
import { REQUEST_KINDS } from './request-kinds.ts'

export const KINDS: readonly Kind[] = [...ANSWER_KINDS, ...REQUEST_KINDS, ...FAILURE_KINDS].sort(
  (a, b) => a.item - b.item,
)

export const CELLS: readonly Cell[] = GRID_CALLERS.flatMap((caller) =>
  GRID_UPSTREAMS.flatMap((upstream) =>
    [false, true].map((isStream) => ({ caller, upstream, isStream })),
  ),
)

export function nameOf({ caller, upstream, isStream }: Cell): string {
  return `${caller.path} to ${upstream.dialect}, ${isStream ? 'streamed' : 'whole'}`
}

/** By the name of the kind: the cells that failed before issue 47. */
const FAILED_BEFORE: Readonly<Record<string, readonly string[]>> = failedBefore

/** The page. Every cell except `–` is a test in `test/stages/wire-grid.test.ts`. */
export function gridPage(): string {
  const tables = GRID_CALLERS.map((caller) => {
    const names = GRID_UPSTREAMS.map(({ kit }) => kit.name)
    const reasons = new Map<string, Set<string>>()
    const rows = KINDS.map((kind) => {
      const marks = GRID_UPSTREAMS.map((upstream) =>
        [false, true]
          .map((isStream) => markOf(kind, { caller, upstream, isStream }, reasons))
          .join(' '),
      )
      return `| ${kind.item} | ${kind.name} | ${marks.join(' | ')} |`
    })
    const absent = [...reasons].map(([reason, kinds]) => `- ${reason}: ${[...kinds].join('; ')}`)
    return [
      `## \`POST ${caller.path}\``,
      '',
      `| item | kind | ${names.join(' | ')} |`,
      `|--:|---|${names.map(() => ':-:|').join('')}`,
      ...rows,
      '',
      'Not applicable, by reason:',
      '',
      ...absent,
      '',
    ].join('\n')
  })
  return `${HEAD}\n${tables.join('\n')}`
}

function markOf(kind: Kind, cell: Cell, reasons: Map<string, Set<string>>): string {
  const absent = kind.absent?.(cell)
  if (absent !== undefined) {
    reasons.set(absent, (reasons.get(absent) ?? new Set()).add(kind.name))
    return '–'
  }
  return FAILED_BEFORE[kind.name]?.includes(nameOf(cell)) === true ? '●' : '✓'
}

const HEAD = `<!-- Written by test/stages/wire-grid.test.ts: GATEHOUSE_RENEW=1 node_modules/.bin/bun test test/stages/wire-grid.test.ts -->
# Kinds of public bug reports, in every pair of dialects

Each row is a kind of bug that public reports describe, by its item of issue 47. Each column is an
upstream's dialect. A mark is the result of a test in \`test/stages/wire-grid.test.ts\`, which sends one
small example through the data plane: the first mark for a whole answer, the second for a stream.

| | |
|---|---|
| ✓ | ok: the rule of the kind holds, and held before the issue |
| ● | mended: the same test fails at commit \`8dde090f\` |
| – | not applicable; the reasons are below each table |

In the pairs of a dialect with itself nothing is translated: their tests show that the bytes, or the
members in question, arrive as they are. \`POST /v1/responses\` is never translated: to a target of
its own dialect it is relayed to the byte, to every other one it is refused with a 400; the same tests
show both. Calls of Chat Completions are translated to Responses for owned models alone.
`
