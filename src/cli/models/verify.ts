/** `gatehouse models verify`: doubts about the prices of models in use. */
import type { Command } from 'commander'
import type { Schemas } from '../../contract/api.generated.ts'
import type { EntryPrices, ModelEntry } from '../../core/model-entry.ts'
import { CliError } from '../cli-error.ts'
import { type Client, withClient } from '../client.ts'
import type { CliContext } from '../context.ts'
import { type Columns, printNote } from '../output.ts'
import { asJson, example, parseWhole, printListing } from '../program-parts.ts'
import { terminal } from '../terminal.ts'
import { readUsage } from '../usage.ts'
import { EXPECTED, readList } from './import.ts'

interface VerifyFlags {
  readonly days: number
  readonly against?: string
}

type Model = Schemas['ProviderModel']

interface Doubt {
  readonly model: string
  readonly calls: number
  readonly reason: 'old' | 'alias' | 'differs'
  readonly detail: string
}

const DAY_MS = 86_400_000
const OLD_DAYS = 90
const MAX_MODELS = 10_000

export function bindVerify(models: Command, context: CliContext): void {
  models
    .command('verify')
    .description(
      `list models in use whose price is older than ${OLD_DAYS} days, is that of an alias, or ` +
        'differs from a price list; exits with 1 if there are any',
    )
    .option(
      '--days <n>',
      'in use means: called in so many days',
      (text) => parseWhole(text, { min: 1, max: 3_650 }),
      30,
    )
    .option('--against <file>', 'also compare with a price list that models import can read')
    .addHelpText(
      'after',
      example('gatehouse models verify', 'gatehouse models verify --against api.json'),
    )
    .action(async ({ days, against }: VerifyFlags, command: Command) => {
      const text = against === undefined ? undefined : await readList(against)
      const [doubts, checked] = await withClient(context, async (client) => {
        const listed = text === undefined ? undefined : await readEntries(client, text)
        const used = await findUsed(client, days)
        return [used.flatMap((each) => doubtsAbout(each, listed, Date.now())), used.length] as const
      })
      if (doubts.length > 0) terminal().exitCode = 1
      printListing({ rows: doubts, hasMore: false }, command, COLUMNS)
      if (!asJson(command)) printNote(`Checked ${checked} models: ${doubts.length} doubts.`)
    })
}

const COLUMNS: Columns<Doubt> = {
  MODEL: ({ model }) => model,
  CALLS: ({ calls }) => String(calls),
  DOUBT: ({ reason }) => reason,
  DETAIL: ({ detail }) => detail,
}

interface UsedModel {
  readonly target: string
  readonly calls: number
  readonly model: Model
}

/** Models without a known price are left to `models unknown`. */
async function findUsed(client: Client, days: number): Promise<readonly UsedModel[]> {
  const usage = { by: 'target', days, order: 'calls', limit: MAX_MODELS } as const
  const { data } = await readUsage(client, usage)
  const found: UsedModel[] = []
  const lists = new Map<string, ReadonlyMap<string, Model>>()
  for (const { group, calls } of data) {
    const slash = group?.indexOf('/') ?? -1
    if (group === null || slash < 1 || group.startsWith('owned/')) continue
    const path = { provider: group.slice(0, slash), model: group.slice(slash + 1) }
    const list = lists.get(path.provider) ?? (await listModels(client, path.provider))
    lists.set(path.provider, list)
    const model = list.get(path.model) ?? (await showModel(client, path))
    if (model !== undefined && model.priceSource !== null)
      found.push({ target: group, calls, model })
  }
  return found
}

async function listModels(client: Client, provider: string): Promise<ReadonlyMap<string, Model>> {
  const { data } = await client.call('GET /v1/provider-models', 'data', { query: { provider } })
  return new Map(data.map((model) => [model.id, model]))
}

async function showModel(
  client: Client,
  path: { readonly provider: string; readonly model: string },
): Promise<Model | undefined> {
  try {
    return await client.call('GET /v1/provider-models/{provider}/{model}', 'isAlias', { path })
  } catch (error) {
    if (error instanceof CliError && error.failure === 'notFound') return undefined
    throw error
  }
}

async function readEntries(client: Client, text: string): Promise<ReadonlyMap<string, ModelEntry>> {
  const { readPriceList } = await import('../../config/price-lists/read-price-list.ts')
  const { data } = await client.call('GET /v1/providers', 'data')
  const list = readPriceList(text, new Set(data.map(({ id }) => id)))
  if (list === undefined)
    throw new CliError('failed', `This is not a price list of a known form: ${EXPECTED}.`)
  return new Map(list.entries.map((entry) => [entry.model, entry]))
}

function doubtsAbout(
  { target, calls, model }: UsedModel,
  listed: ReadonlyMap<string, ModelEntry> | undefined,
  nowMs: number,
): readonly Doubt[] {
  const { priceFrom, isAlias } = model
  const doubts: Doubt[] = []
  const doubt = (reason: Doubt['reason'], detail: string) =>
    doubts.push({ model: target, calls, reason, detail })
  if (priceFrom !== null && nowMs - Date.parse(priceFrom) > OLD_DAYS * DAY_MS)
    doubt('old', `since ${priceFrom}`)
  if (isAlias) doubt('alias', 'the provider decides which model answers')
  const prices = listed?.get(target)?.prices?.[0]
  if (prices === undefined) return doubts
  const differing = MEMBERS.flatMap(([member, name]) => {
    const given = prices[member]
    const known = model[name]
    return given === undefined || known === null || given === known
      ? []
      : [`${member} $${known}, listed $${given}`]
  })
  if (differing.length > 0) doubt('differs', differing.join('; '))
  return doubts
}

const MEMBERS = [
  ['input', 'inputUsdPerMillion'],
  ['output', 'outputUsdPerMillion'],
  ['cachedInput', 'cachedInputUsdPerMillion'],
] as const satisfies readonly (readonly [keyof EntryPrices, keyof Model])[]
