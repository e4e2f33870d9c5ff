/** `gatehouse owned-models`: models that you host or pay for yourself. Their credentials are asked for, never given as an argument. */
import { type Command, Option } from 'commander'
import { CliError } from './cli-error.ts'
import { type JsonObject, withClient } from './client.ts'
import type { CliContext } from './context.ts'
import { confirmDeletion, readSecret } from './input.ts'
import { formatTime, printJson, printLine, printNote, toPrintable } from './output.ts'
import { asJson, example, parseLimit, parseWhole, printListing } from './program-parts.ts'

interface ChangeFlags {
  readonly name?: string
  readonly model?: string
  readonly priceInput?: number
  readonly priceOutput?: number
  readonly priceCachedInput?: number
}

interface CreateFlags extends ChangeFlags {
  readonly dialect: string
  readonly baseUrl: string
}

const DIALECTS = ['openai-chat', 'openai-responses', 'mistral-fim', 'anthropic-messages']

export function bindOwnedModels(program: Command, context: CliContext): void {
  const models = program
    .command('owned-models')
    .description('models that you host or pay for yourself; gates name them owned/SLUG')

  withChangeOptions(models.command('create <slug>'), true)
    .description('register a model; its credential is read from standard input or a hidden prompt')
    .addOption(
      new Option('--dialect <name>', 'the format that its server speaks')
        .choices(DIALECTS)
        .makeOptionMandatory(),
    )
    .requiredOption('--base-url <address>', 'as an SDK of the dialect takes it')
    .addHelpText(
      'after',
      example(
        'gatehouse owned-models create llama --dialect openai-chat --base-url http://localhost:11434/v1 --model llama3.3 --price-input 0 --price-output 0',
      ),
    )
    .action(async (slug: string, flags: CreateFlags, command: Command) => {
      const credential = await readCredential()
      const { dialect, baseUrl } = flags
      const body = { slug, dialect, baseUrl, ...toBody(flags), credential }
      const created = await withClient(context, (client) =>
        client.json('/v1/owned-models', 'slug', { method: 'POST', body }),
      )
      show(created, asJson(command))
    })

  models
    .command('list')
    .description('list the owned models, newest first')
    .option('--limit <n>', 'at most this many', parseLimit, 100)
    .addHelpText('after', example('gatehouse owned-models list'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const listing = await withClient(context, (client) => client.list('/v1/owned-models', limit))
      printListing(listing, command, {
        columns: ['SLUG', 'DIALECT', 'MODEL', 'ADDRESS'],
        toRow: (row) => ({
          SLUG: String(row.slug),
          DIALECT: String(row.dialect),
          MODEL: String(row.upstreamModelId),
          ADDRESS: String(row.baseUrl),
        }),
      })
    })

  models
    .command('get <slug>')
    .description('show one owned model; its credential is never shown')
    .addHelpText('after', example('gatehouse owned-models get llama'))
    .action(async (slug: string, _flags, command: Command) => {
      show(await withClient(context, (client) => client.json(pathOf(slug), 'slug')), asJson(command))
    })

  withChangeOptions(models.command('update <slug>'), false)
    .description('change an owned model; what is not given stays as it is')
    .option('--credential', 'set a new credential, read from standard input or a hidden prompt')
    .addHelpText(
      'after',
      example(
        'gatehouse owned-models update llama --model llama3.3:70b',
        'gatehouse owned-models update llama --credential < new-key.txt',
      ),
    )
    .action(async (slug: string, flags: ChangeFlags & { credential?: boolean }, command: Command) => {
      const changes = toBody(flags)
      if (flags.credential !== true && Object.keys(changes).length === 0)
        throw new CliError('usage', 'There is nothing to change: give at least one option.')
      const credential = flags.credential === true ? { credential: await readCredential() } : {}
      const updated = await withClient(context, (client) =>
        client.json(pathOf(slug), 'slug', { method: 'PATCH', body: { ...changes, ...credential } }),
      )
      show(updated, asJson(command))
    })

  models
    .command('delete <slug>')
    .description('delete an owned model that no gate uses')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gatehouse owned-models delete llama --yes'))
    .action(async (slug: string, flags: { yes?: boolean }, command: Command) => {
      await confirmDeletion(`the owned model ${slug}`, flags.yes === true)
      await withClient(context, (client) => client.delete(pathOf(slug)))
      if (asJson(command)) return printJson({ slug, deleted: true })
      printLine(`Deleted ${slug}.`)
    })
}

function withChangeOptions(command: Command, isMandatory: boolean): Command {
  const cents = (text: string) => parseWhole(text, { min: 0, max: 10_000 })
  const option = (flags: string, description: string) =>
    new Option(flags, description).makeOptionMandatory(isMandatory)
  return command
    .option('--name <text>', 'display name')
    .addOption(option('--model <id>', "the model's name at its server"))
    .addOption(option('--price-input <cents>', 'US cents for a million input tokens').argParser(cents))
    .addOption(option('--price-output <cents>', 'US cents for a million output tokens').argParser(cents))
    .option('--price-cached-input <cents>', 'the same for input that its server had cached', cents)
}

async function readCredential(): Promise<string> {
  const credential = await readSecret('The credential of the model')
  if (credential === '') throw new CliError('usage', 'There is no credential on standard input.')
  return credential
}

/** Only what was given, so that a PATCH changes nothing else. */
function toBody({ name, model, priceInput, priceOutput, priceCachedInput }: ChangeFlags): JsonObject {
  return {
    ...(name === undefined ? {} : { displayName: name }),
    ...(model === undefined ? {} : { upstreamModelId: model }),
    ...(priceInput === undefined ? {} : { pricingInput: priceInput }),
    ...(priceOutput === undefined ? {} : { pricingOutput: priceOutput }),
    ...(priceCachedInput === undefined ? {} : { pricingCachedInput: priceCachedInput }),
  }
}

function pathOf(slug: string): string {
  return `/v1/owned-models/${encodeURIComponent(slug)}`
}

function show(model: JsonObject, isJson: boolean): void {
  for (const warning of warningsOf(model)) printNote(`Warning: ${warning}`)
  if (isJson) {
    printJson(model)
    return
  }
  const fields: readonly (readonly [string, unknown])[] = [
    ['slug', model.slug],
    ['target', `owned/${model.slug}`],
    ['name', model.displayName],
    ['dialect', model.dialect],
    ['address', model.baseUrl],
    ['model', model.upstreamModelId],
    ['input', `${model.pricingInput} cents per million tokens`],
    ['cached', `${model.pricingCachedInput} cents per million tokens`],
    ['output', `${model.pricingOutput} cents per million tokens`],
    ['credential', `set ${formatTime(model.credentialSetAt)}`],
    ['created', formatTime(model.createdAt)],
    ['updated', formatTime(model.updatedAt)],
  ]
  for (const [name, value] of fields) printLine(`${name.padEnd(12)}${toPrintable(String(value))}`)
}

function warningsOf({ warnings }: JsonObject): readonly string[] {
  return Array.isArray(warnings) ? warnings.map((warning) => String(warning?.message)) : []
}
