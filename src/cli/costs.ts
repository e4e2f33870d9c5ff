import type { Command } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { assertGoesOn, type Client, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { formatTable, printJson, printLine, printNote, toUsdCell } from './output.ts'
import { asJson, example } from './program-parts.ts'
import { terminal } from './terminal.ts'

interface VerifyFlags {
  readonly from?: string
  readonly to?: string
  readonly target?: string
  readonly wrong?: string[]
  readonly fix?: true
}

const MAX_SHOWN = 100

type Answer = Schemas['VerifiedCosts']
type Model = Answer['models'][number]

const PROGRESS_MS = 5_000

interface Verified {
  source: string | null
  checked: number
  fixed: number
  differences: number
  readonly models: Model[]
  readonly shown: Answer['differences'][number][]
  readonly incomparable: Map<string | null, number>
}

export function bindCosts(program: Command, context: CliContext): void {
  const costs = program.command('costs').description('what calls cost')
  costs
    .command('verify')
    .description(
      'compute the costs in the log again and show what would change; exits with 1 where some ' +
        'differ and are not fixed',
    )
    .option('--from <time>', 'costs of calls that began at this time or later')
    .option('--to <time>', 'costs of calls that began before this time')
    .option('--target <provider/model>', 'only costs of calls of this model')
    .option(
      '--wrong <source...>',
      'costs whose entry was wrong, such as overlay:7d89ce077233; others of entries stay',
    )
    .option('--fix', 'replace the costs that differ, in rows, sums and running budgets')
    .addHelpText(
      'after',
      example('gatehouse costs verify --from 2026-11-01', 'gatehouse costs verify --fix'),
    )
    .action(async (flags: VerifyFlags, command: Command) => {
      const verified = await withClient(context, (client) => verifyAll(client, flags))
      if (verified.differences > 0 && flags.fix !== true) terminal().exitCode = 1
      if (asJson(command)) {
        const incomparable = [...verified.incomparable].map(([source, calls]) => ({
          source,
          calls,
        }))
        printJson({ ...verified, incomparable })
      } else print(verified, flags.fix === true)
    })
}

async function verifyAll(client: Client, flags: VerifyFlags): Promise<Verified> {
  const { from, to, target, wrong, fix } = flags
  const models = new Map<string | null, Model>()
  let notedAtMs = performance.now()
  const verified: Verified = {
    source: null,
    checked: 0,
    fixed: 0,
    differences: 0,
    models: [],
    shown: [],
    incomparable: new Map(),
  }
  let cursor: string | null = null
  do {
    const answer: Answer = await client.call('POST /v1/costs/verify', 'differences', {
      body: { from, to, target, wrong, fix: fix === true, cursor: cursor ?? undefined },
    })
    const { differences } = answer
    // A server of an earlier version does not list them.
    for (const model of answer.models ?? []) add(models, model)
    verified.source = answer.source
    verified.checked += answer.checked
    verified.fixed += answer.fixed
    // The list of a corrected day is bounded.
    verified.differences += Math.max(differences.length, answer.fixed)
    verified.shown.push(...differences.slice(0, MAX_SHOWN - verified.shown.length))
    for (const { source, calls } of answer.incomparable) {
      verified.incomparable.set(source, (verified.incomparable.get(source) ?? 0) + calls)
    }
    assertGoesOn(cursor, answer.nextCursor)
    cursor = answer.nextCursor
    if (cursor === null || performance.now() - notedAtMs < PROGRESS_MS) continue
    notedAtMs = performance.now()
    printNote(`Checked ${verified.checked} calls so far: ${verified.differences} differ.`)
  } while (cursor !== null)
  verified.models.push(...models.values())
  return verified
}

function add(models: Map<string | null, Model>, { target, ...added }: Model): void {
  const known = models.get(target) ?? { target, calls: 0, storedUsd: 0, computedUsd: 0 }
  models.set(target, {
    target,
    calls: known.calls + added.calls,
    storedUsd: known.storedUsd + added.storedUsd,
    computedUsd: known.computedUsd + added.computedUsd,
  })
}

function print(
  { source, checked, fixed, differences, models, shown, incomparable }: Verified,
  isFix: boolean,
): void {
  if (shown.length > 0) {
    printLine(
      formatTable<Answer['differences'][number]>(
        {
          ID: (each) => each.id,
          STORED: (each) => toText(each.stored),
          COMPUTED: (each) => toText(each.computed),
          TARGET: (each) => String(each.target),
        },
        shown,
      ),
    )
  }
  if (differences > shown.length)
    printNote(`The list shows the first ${shown.length} of ${differences} differences.`)
  if (models.length > 0)
    printLine(
      formatTable<Model>(
        {
          MODEL: (each) => String(each.target),
          CALLS: (each) => String(each.calls),
          STORED: (each) => toUsdCell(each.storedUsd),
          COMPUTED: (each) => toUsdCell(each.computedUsd),
        },
        models,
      ),
    )
  printLine(
    `Checked ${checked} calls against ${source}: ${differences} differ, ${fixed} were fixed.`,
  )
  if (differences > 0)
    printNote(
      isFix
        ? 'Running budgets and quotas rose with the sums. They fall only with their next period.'
        : '--fix changes rows and sums. Running budgets and quotas rise with the sums at once, and ' +
            'fall only with their next period.',
    )
  for (const [other, calls] of incomparable) {
    const which = calls === 1 ? '1 call keeps its cost' : `${calls} calls keep their costs`
    printNote(`${which} of ${other}: ${whyKept(other)}`)
  }
}

function whyKept(source: string | null): string {
  if (source === 'reported') return 'the provider reported it.'
  return source?.startsWith('overlay:') === true
    ? `the entry was declared at the time. If it was wrong: --wrong ${source}`
    : 'its price cannot be found again.'
}

function toText({ usd, status }: Schemas['Cost']): string {
  return usd === null ? status : `${toUsdCell(usd)} ${status}`
}
