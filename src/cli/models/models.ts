/** `gatehouse models`: what is known of the providers' models. */
import type { Command } from 'commander'
import type { Schemas } from '../../contract/api.generated.ts'
import { type CsvCell, toCsv } from '../../contract/csv.ts'
import { withClient } from '../client.ts'
import type { CliContext } from '../context.ts'
import { type Columns, printCsv, printThing } from '../output.ts'
import { asJson, example, parseLimit, printListing } from '../program-parts.ts'
import { bindImport } from './import.ts'
import { bindSetPrice, parseTarget } from './set-price.ts'
import { bindUnknown } from './unknown.ts'
import { bindVerify } from './verify.ts'

interface ListFlags {
  readonly provider?: string
  readonly search?: string
  readonly limit: number
  readonly csv?: true
}

type Model = Schemas['ProviderModel']
type Rule = Schemas['RequestRule']

export function bindModels(program: Command, context: CliContext): void {
  const models = program
    .command('models')
    .description("models: what the providers' models can do, and what they cost")

  models
    .command('list')
    .description('list the models that are known, with their prices per million tokens')
    .option('--provider <id>', 'only of this provider')
    .option('--search <words>', 'only with these words in provider/model or name')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .option('--csv', 'as CSV, with all facts')
    .addHelpText(
      'after',
      example(
        'gatehouse models list --search "claude opus"',
        'gatehouse models list --provider mistral --limit 100000 --csv > models.csv',
      ),
    )
    .action(async ({ limit, csv, provider, search }: ListFlags, command: Command) => {
      const listing = await withClient(context, (client) =>
        client.listAll('GET /v1/provider-models', limit, { provider, search }),
      )
      if (csv === true) printCsv(toModelsCsv(listing.rows))
      else printListing(listing, command, COLUMNS)
    })

  models
    .command('show')
    .argument('<target>', 'the model as provider/model, as a gate names it')
    .description('show a model: its price, its source, its facts, and its rules for requests')
    .addHelpText('after', example('gatehouse models show anthropic/claude-opus-4-6'))
    .action(async (target: string, _flags, command: Command) => {
      const path = parseTarget(target)
      const model = await withClient(context, (client) =>
        client.call('GET /v1/provider-models/{provider}/{model}', 'isAlias', { path }),
      )
      printThing(model, asJson(command), [...toFields(model), ...model.rules.map(toRuleField)])
    })

  bindSetPrice(models, context)
  bindImport(models, context)
  bindUnknown(models, context)
  bindVerify(models, context)
}

const COLUMNS: Columns<Model> = {
  MODEL: toTarget,
  INPUT: (model) => toPrice(model.inputUsdPerMillion),
  OUTPUT: (model) => toPrice(model.outputUsdPerMillion),
  CONTEXT: (model) => toCount(model.contextTokens),
  KEY: toCredential,
  HEALTH: ({ health }) => health?.state ?? '-',
  SOURCE: (model) => model.priceSource ?? '-',
}

function toTarget({ provider, id }: Model): string {
  return `${provider}/${id}`
}

function toPrice(usd: number | null): string {
  return usd === null ? '-' : `$${usd}`
}

function toCount(tokens: number | null): string {
  return tokens === null ? '-' : String(tokens)
}

function toCredential({ credential }: Model): string {
  if (credential === null) return 'none'
  return credential === 'own' ? "the account's" : "the gateway's"
}

function toFields(model: Model): readonly (readonly [name: string, value: string])[] {
  return [
    ['model', toTarget(model)],
    ['name', model.name ?? '-'],
    ['input', toPrice(model.inputUsdPerMillion)],
    ['cached input', toPrice(model.cachedInputUsdPerMillion)],
    ['output', toPrice(model.outputUsdPerMillion)],
    ['price from', toSource(model)],
    ['alias', model.isAlias ? 'yes: the provider decides which model answers' : 'no'],
    ['retires', model.retiresOn ?? '-'],
    ['key', toCredential(model)],
    ['health', toHealth(model)],
    ['context', toCount(model.contextTokens)],
    ['max output', toCount(model.maxOutputTokens)],
    ['takes', toWords(model.inputModalities)],
    ['gives', toWords(model.outputModalities)],
    ['efforts', toWords(model.reasoningEfforts)],
  ]
}

function toRuleField({ name, value, source, checked }: Rule): readonly [string, string] {
  const from = source === null ? "the operator's entry" : `${source}, read in ${checked}`
  return [`rule ${name}`, `${typeof value === 'object' ? JSON.stringify(value) : value} (${from})`]
}

function toSource({ priceSource, priceFrom, isPriceEstimated }: Model): string {
  if (priceSource === null) return 'not known'
  const since = priceFrom === null ? '' : `, since ${priceFrom}`
  return `${priceSource}${since}${isPriceEstimated ? ', estimated' : ''}`
}

/** On the node that answers, since its start. */
function toHealth({ health }: Model): string {
  if (health === null) return '-'
  const { state, restsUntil, lastFailure } = health
  const until = restsUntil === null ? '' : ` until ${restsUntil}`
  if (lastFailure === null) return `${state}${until}`
  const { code, status, at } = lastFailure
  return `${state}${until}, last failure ${code} (${status}) at ${at}`
}

function toWords(words: readonly string[] | null): string {
  if (words === null) return '-'
  return words.length === 0 ? 'none' : words.join(', ')
}

const CSV_COLUMNS: Readonly<Record<string, (model: Model) => CsvCell>> = {
  provider: (model) => model.provider,
  model: (model) => model.id,
  name: (model) => model.name,
  input_usd_per_million: (model) => model.inputUsdPerMillion,
  cached_input_usd_per_million: (model) => model.cachedInputUsdPerMillion,
  output_usd_per_million: (model) => model.outputUsdPerMillion,
  price_source: (model) => model.priceSource,
  price_from: (model) => model.priceFrom,
  price_estimated: (model) => model.isPriceEstimated,
  alias: (model) => model.isAlias,
  credential: (model) => model.credential,
  context_tokens: (model) => model.contextTokens,
  max_output_tokens: (model) => model.maxOutputTokens,
  input_modalities: (model) => model.inputModalities?.join(' '),
  output_modalities: (model) => model.outputModalities?.join(' '),
  reasoning_efforts: (model) => model.reasoningEfforts?.join(' '),
  retires_on: (model) => model.retiresOn,
  health: (model) => model.health?.state,
}

function toModelsCsv(models: readonly Model[]): string {
  const cells = Object.values(CSV_COLUMNS)
  return toCsv([Object.keys(CSV_COLUMNS), ...models.map((one) => cells.map((cell) => cell(one)))])
}
