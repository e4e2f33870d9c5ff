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
  readonly fix?: true
}

const MAX_SHOWN = 100

type Answer = Schemas['VerifiedCosts']

interface Verified {
  source: string | null
  checked: number
  fixed: number
  differences: number
  readonly shown: Answer['differences'][number][]
  readonly incomparable: Map<string | null, number>
}

export function bindCosts(program: Command, context: CliContext): void {
  const costs = program.command('costs').description('what calls cost')
  costs
    .command('verify')
    .description(
      'compute the costs in the log again; exits with 1 where some differ and are not fixed',
    )
    .option('--from <time>', 'costs of calls that began at this time or later')
    .option('--to <time>', 'costs of calls that began before this time')
    .option('--fix', 'replace the costs that differ')
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
      } else print(verified)
    })
}

async function verifyAll(client: Client, flags: VerifyFlags): Promise<Verified> {
  const { from, to, fix } = flags
  const verified: Verified = {
    source: null,
    checked: 0,
    fixed: 0,
    differences: 0,
    shown: [],
    incomparable: new Map(),
  }
  let cursor: string | null = null
  do {
    const answer: Answer = await client.call('POST /v1/costs/verify', 'differences', {
      body: { from, to, fix: fix === true, cursor: cursor ?? undefined },
    })
    const { differences } = answer
    verified.source = answer.source
    verified.checked += answer.checked
    verified.fixed += answer.fixed
    verified.differences += differences.length
    verified.shown.push(...differences.slice(0, MAX_SHOWN - verified.shown.length))
    for (const { source, calls } of answer.incomparable) {
      verified.incomparable.set(source, (verified.incomparable.get(source) ?? 0) + calls)
    }
    assertGoesOn(cursor, answer.nextCursor)
    cursor = answer.nextCursor
  } while (cursor !== null)
  return verified
}

function print({ source, checked, fixed, differences, shown, incomparable }: Verified): void {
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
  printLine(
    `Checked ${checked} calls against ${source}: ${differences} differ, ${fixed} were fixed.`,
  )
  for (const [other, calls] of incomparable) {
    printNote(
      `${calls} calls were priced from ${other}, which this version does not ` +
        'have: they were not compared.',
    )
  }
}

function toText({ usd, status }: Schemas['Cost']): string {
  return usd === null ? status : `${toUsdCell(usd)} ${status}`
}
