/** Prints what a budget would have done with past calls. */
import type { Schemas } from '../contract/api.generated.ts'
import { formatTable, formatTime, printLine, printNote, toUsdCell } from './output.ts'

type Simulation = Schemas['BudgetSimulation']
type Period = Simulation['periods'][number]
type Head = Simulation['heads'][number]

export function printSimulation(simulation: Simulation): void {
  const { from, to, periods, heads, headsCounted, headsStopped, limitations, moved } = simulation
  printLine(`Calls from ${formatTime(from)} to ${formatTime(to)}:`)
  printLine(
    formatTable(
      {
        '': ([name]) => name,
        CALLS: ([, { calls }]) => String(calls),
        TOKENS: ([, { tokens }]) => String(tokens),
        COST: ([, { usd }]) => toUsdCell(usd),
      },
      [
        ['admitted', simulation.admitted],
        ...(moved.calls === 0 ? [] : [['moved', moved] as const]),
        ['refused', simulation.refused],
      ] as const,
    ),
  )
  if (periods.length === 0)
    printNote(
      'The log has no call that this budget counts in this time. Give another range with --from ' +
        'and --to.',
    )
  if (moved.calls > 0) printLine(`Moved calls would have cost ${toUsdCell(moved.savedUsd)} less.`)
  if (periods.length > 0) {
    printLine('')
    printLine(
      formatTable<Period>(
        {
          PERIOD: (each) => formatTime(each.from),
          ADMITTED: (each) => `${each.admitted.calls} (${toUsdCell(each.admitted.usd)})`,
          ...(moved.calls > 0 && {
            MOVED: (each: Period) => `${each.moved.calls} (${toUsdCell(each.moved.usd)})`,
          }),
          REFUSED: (each) => `${each.refused.calls} (${toUsdCell(each.refused.usd)})`,
          'FIRST REFUSAL': (each) => formatTime(each.firstRefusedAt),
        },
        periods,
      ),
    )
  }
  if (headsCounted > 1 && heads.length > 0) {
    printLine('')
    printLine(`${headsStopped} of ${headsCounted} would have been stopped:`)
    printLine(
      formatTable<Head>(
        {
          REFUSED: (each) => `${each.refused.calls} (${toUsdCell(each.refused.usd)})`,
          'FIRST REFUSAL': (each) => formatTime(each.firstRefusedAt),
          NAME: (each) => (each.name === null ? each.id : `${each.name} (${each.id})`),
        },
        heads,
      ),
    )
  }
  for (const limitation of limitations) printNote(limitation)
}
