/** `gatehouse models import`: prices and facts of a public price list that the operator brings. */
import type { Command } from 'commander'
import type { ImportPlan } from '../../config/price-lists/import-price-list.ts'
import { KNOWN_FORMS } from '../../config/price-lists/known-forms.ts'
import { SettingsError } from '../../config/setting-type.ts'
import type { DatedPrices, ModelEntry } from '../../core/model-entry.ts'
import { CliError } from '../cli-error.ts'
import type { CliContext } from '../context.ts'
import { readBounded, readStandardInput } from '../input.ts'
import { printJson, printLine, printNote } from '../output.ts'
import { asJson, example } from '../program-parts.ts'

interface ImportFlags {
  readonly provider?: readonly string[]
  readonly from?: string
  readonly yes?: true
}

const MAX_SHOWN = 50
export const EXPECTED = `expected is ${KNOWN_FORMS}`

export function bindImport(models: Command, context: CliContext): void {
  models
    .command('import')
    .argument('<file>', 'the price list as JSON; - reads standard input')
    .description(
      'compare a public price list with the configuration file of this machine, and write the ' +
        `models that differ: ${KNOWN_FORMS}`,
    )
    .option('--provider <id...>', 'only of these providers')
    .option('--from <date>', 'the date from which new prices apply (default: today, in UTC)')
    .option('--yes', 'write the file; without it, only the differences are shown')
    .addHelpText(
      'after',
      example(
        'curl -s https://models.dev/api.json | gatehouse models import - --provider openai mistral',
        'gatehouse models import prices.json --yes',
      ),
    )
    .action(async (file: string, flags: ImportFlags, command: Command) => {
      const plan = await planOf(context, await readList(file), flags)
      const written = flags.yes === true && plan.added.length + plan.changed.length > 0
      const backup = written ? await write(plan) : undefined
      if (asJson(command)) printJson(toJson(plan, { written, backup }))
      else print(plan, { written, backup })
    })
}

export async function readList(file: string): Promise<string> {
  if (file === '-') return await readStandardInput()
  try {
    return await readBounded(Bun.file(file).stream(), file, `nothing was imported; ${EXPECTED}`)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError('failed', `${file} cannot be read (${(error as Error).message}).`)
  }
}

async function planOf(
  { environment }: CliContext,
  text: string,
  { from = new Date().toISOString().slice(0, 10), provider }: ImportFlags,
): Promise<ImportPlan> {
  const { planImport } = await import('../../config/price-lists/import-price-list.ts')
  try {
    const plan = await planImport(environment, text, { from, providers: provider })
    if (plan !== undefined) return plan
  } catch (error) {
    if (error instanceof SettingsError) throw new CliError('failed', error.message)
    throw error
  }
  throw new CliError('failed', `This is not a price list of a known form: ${EXPECTED}.`)
}

async function write(plan: ImportPlan): Promise<string | undefined> {
  const { writeImport } = await import('../../config/price-lists/import-price-list.ts')
  return await writeImport(plan)
}

interface Outcome {
  readonly written: boolean
  readonly backup: string | undefined
}

function print(plan: ImportPlan, { written, backup }: Outcome): void {
  const { list, added, changed, same, path } = plan
  const lines = [
    ...added.map((entry) => `+ ${entry.model}  ${describePrices(entry.prices?.[0])}`),
    ...changed.map(
      ({ before, prices, facts }) =>
        `~ ${before.model}  ${[describeChange(before, prices), ...Object.keys(facts)].filter(Boolean).join(', ')}`,
    ),
  ]
  for (const line of lines.slice(0, MAX_SHOWN)) printLine(line)
  if (lines.length > MAX_SHOWN) printLine(`… and ${lines.length - MAX_SHOWN} more`)
  printLine(`${list.form}: ${added.length} new, ${changed.length} changed, ${same} the same.`)
  for (const [reason, models] of list.leftOut) printLine(`Left out: ${models} × ${reason}.`)
  for (const [kind, models] of list.leftOutPrices)
    printLine(`Left out: prices of ${kind}, of ${models} models.`)
  if (written)
    printLine(
      `Wrote ${path}${backup === undefined ? '' : `; the earlier file is ${backup}`}. ` +
        'Apply it to running nodes with: gatehouse reload.',
    )
  else if (lines.length > 0) printNote(`Nothing was written. Write ${path} with --yes.`)
}

function describeChange(before: ModelEntry, prices: DatedPrices | undefined): string {
  if (prices === undefined) return ''
  return `${describePrices(before.prices?.at(-1))} → ${describePrices(prices)}`
}

function describePrices(prices: DatedPrices | undefined): string {
  if (prices === undefined) return 'no price'
  return `$${prices.input ?? '?'} in, $${prices.output ?? '?'} out`
}

function toJson({ list, added, changed, same, path }: ImportPlan, outcome: Outcome): object {
  return {
    form: list.form,
    new: added,
    changed: changed.map(({ before, prices, facts }) => ({
      before,
      prices: prices ?? null,
      facts,
    })),
    same,
    leftOut: Object.fromEntries(list.leftOut),
    leftOutPrices: Object.fromEntries(list.leftOutPrices),
    path,
    written: outcome.written,
    backup: outcome.backup ?? null,
  }
}
