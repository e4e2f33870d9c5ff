import { type Command, Option } from 'commander'
import type { Schemas } from '../contract/api.generated.ts'
import { formOfDialect, OWNED_MODEL_DIALECTS } from '../core/dialects.ts'
import { CREDENTIAL_HEADERS, FIM_ENDPOINTS, FIM_TEMPLATE_NAMES } from '../core/owned-model.ts'
import { CliError } from './cli-error.ts'
import type { Client } from './client.ts'
import type { CliContext } from './context.ts'
import { readSecret } from './input.ts'
import { formatTime, printNote, printThing } from './output.ts'
import { isEmptyChange, parseWhole } from './program-parts.ts'
import { addAct, addDelete, addList, addShow, changesOf, idOf } from './resource-verbs.ts'

interface ChangeFlags {
  readonly name?: string
  readonly model?: string
  readonly priceInput?: number
  readonly priceOutput?: number
  readonly priceCachedInput?: number
  readonly credentialHeader?: Schemas['OwnedModel']['credentialHeader']
  readonly fimEndpoint?: Schemas['OwnedModel']['fimEndpoint']
  readonly fimTemplate?: Schemas['OwnedModel']['fimTemplate']
}

type CreateFlags = Required<Pick<ChangeFlags, 'model'>> &
  ChangeFlags &
  Pick<Schemas['CreateOwnedModel'], 'dialect' | 'baseUrl'> & {
    readonly credential: boolean
  }

const FIM_ENDPOINT_CHOICES = ['auto', ...FIM_ENDPOINTS] as const
const FIM_TEMPLATE_CHOICES = ['auto', ...FIM_TEMPLATE_NAMES] as const

const LOOK_AGAIN_MS = 500

const A_MODEL = idOf('owned model')

export function bindOwnedModels(program: Command, context: CliContext): void {
  const models = program
    .command('owned-models')
    .description('models that you host or pay for yourself; gates name them owned/SLUG')

  addAct(models, context, {
    name: 'create',
    argument: ['slug', 'used in gates as owned/SLUG'],
    about:
      'register a model; its credential is read from standard input or a ' +
      'hidden prompt, and may be empty',
    examples: [
      'gatehouse owned-models create llama --dialect openai-chat --base-url ' +
        'http://localhost:11434/v1 --model llama3.3 --no-credential',
    ],
    options: (command) =>
      withChangeOptions(command, true)
        .addOption(
          new Option('--dialect <name>', 'format that the server speaks')
            .choices(OWNED_MODEL_DIALECTS)
            .makeOptionMandatory(),
        )
        .requiredOption(
          '--base-url <address>',
          'address of the server, as an SDK of the dialect takes it',
        )
        .option('--no-credential', 'the server takes no credential: none is read and none is sent'),
    async toBody(flags: CreateFlags, slug) {
      const credential = flags.credential ? await readOptionalCredential() : undefined
      const { dialect, baseUrl, model } = flags
      return { ...toBody(flags), slug, dialect, baseUrl, upstreamModelId: model, credential }
    },
    send: async (client, _, body) =>
      whenChecked(client, await client.call('POST /v1/owned-models', 'slug', { body })),
    show,
  })

  addList(models, context, {
    ask: 'GET /v1/owned-models',
    about: 'list the owned models, newest first',
    examples: ['gatehouse owned-models list'],
    columns: {
      SLUG: (row) => row.slug,
      STATE: (row) => row.probe?.status ?? 'unknown',
      DIALECT: (row) => row.dialect,
      MODEL: (row) => row.upstreamModelId,
      ADDRESS: (row) => row.baseUrl,
    },
  })

  addShow(models, context, {
    ask: 'GET /v1/owned-models/{slug}',
    one: 'owned model',
    about: 'show one owned model; its credential is never shown',
    examples: ['gatehouse owned-models show llama'],
    show,
  })

  addAct(models, context, {
    name: 'update',
    argument: ['slug', A_MODEL],
    about: 'change an owned model; only the given options change',
    examples: [
      'gatehouse owned-models update llama --model llama3.3:70b',
      'gatehouse owned-models update llama --credential < new-key.txt',
    ],
    options: (command) =>
      withChangeOptions(command, false)
        .option('--credential', 'set a new credential, read from standard input or a hidden prompt')
        .option('--no-credential', 'delete the credential, for a server that takes none'),
    async toBody(flags: ChangeFlags & { credential?: boolean }) {
      const changes = toBody(flags)
      if (flags.credential === undefined) changesOf(changes)
      const credential = flags.credential === true ? await readCredential() : undefined
      return { changes: { ...changes, credential }, isRemoved: flags.credential === false }
    },
    async send(client, slug, { changes, isRemoved }) {
      const path = { slug }
      const patch = () =>
        client.call('PATCH /v1/owned-models/{slug}', 'slug', { path, body: changes })
      if (!isRemoved) return await shownWhenChecked(client, await patch())
      // The change is sent first, because the gateway may refuse the change.
      if (!isEmptyChange(changes)) await patch()
      const removed = await client.call('DELETE /v1/owned-models/{slug}/credential', 'slug', {
        path,
      })
      return await shownWhenChecked(client, removed)
    },
    show,
  })

  addAct(models, context, {
    name: 'probe',
    argument: ['slug', A_MODEL],
    about: 'probe a model again, waiting while its server loads the model',
    examples: ['gatehouse owned-models probe llama'],
    toBody: () => undefined,
    send: async (client, slug) =>
      whenChecked(
        client,
        await client.call('POST /v1/owned-models/{slug}/probe', 'slug', { path: { slug } }),
      ),
    show,
  })

  addDelete(models, context, {
    ask: 'DELETE /v1/owned-models/{slug}',
    one: 'owned model',
    about: 'delete an owned model that no gate uses',
    examples: ['gatehouse owned-models delete llama --yes'],
  })
}

function withChangeOptions(command: Command, isCreation: boolean): Command {
  const cents = (text: string) => parseWhole(text, { min: 0, max: 10_000 })
  const otherwise = isCreation ? ' (0)' : ''
  return command
    .option('--name <text>', 'display name')
    .addOption(
      new Option('--model <id>', "the model's name at its server").makeOptionMandatory(isCreation),
    )
    .option('--price-input <cents>', `US cents for a million input tokens${otherwise}`, cents)
    .option('--price-output <cents>', `US cents for a million output tokens${otherwise}`, cents)
    .option('--price-cached-input <cents>', 'US cents for a million cached input tokens', cents)
    .addOption(
      new Option(
        '--credential-header <name>',
        'header in which the server takes the credential; auto: found by the probe (auto)',
      ).choices(CREDENTIAL_HEADERS),
    )
    .addOption(
      new Option(
        '--fim-endpoint <name>',
        'form of fill-in-the-middle of a mistral-fim server; auto: found by the probe (auto)',
      ).choices(FIM_ENDPOINT_CHOICES),
    )
    .addOption(
      new Option(
        '--fim-template <name>',
        'family of models whose tokens completions-template writes; auto: by the model’s name (auto)',
      ).choices(FIM_TEMPLATE_CHOICES),
    )
}

async function readOptionalCredential(): Promise<string | undefined> {
  const credential = await readSecret('The credential of the model (empty: its server takes none)')
  if (credential !== '') return credential
  printNote(
    'Without a credential: no header will carry one. Set one with owned-models ' +
      'update --credential.',
  )
  return undefined
}

async function readCredential(): Promise<string> {
  const credential = await readSecret('The credential of the model')
  if (credential === '') throw new CliError('usage', 'Standard input contains no credential.')
  return credential
}

function toBody(flags: ChangeFlags): Schemas['UpdateOwnedModel'] {
  const { name, model, priceInput, priceOutput, priceCachedInput, credentialHeader } = flags
  const { fimEndpoint, fimTemplate } = flags
  return {
    credentialHeader,
    fimEndpoint,
    fimTemplate,
    displayName: name,
    upstreamModelId: model,
    pricingInput: priceInput,
    pricingOutput: priceOutput,
    pricingCachedInput: priceCachedInput,
  }
}

type Shown = Schemas['SavedOwnedModel']

/** Without warnings, the gateway did not ask the model. */
async function shownWhenChecked(client: Client, answer: Shown): Promise<Shown> {
  return answer.warnings === undefined ? answer : await whenChecked(client, answer)
}

/**
 * Waits for the check, because a server that first loads its model takes longer than an answer of
 * the gateway.
 */
async function whenChecked(client: Client, answer: Shown): Promise<Shown> {
  const { slug, probe } = answer
  if (probe?.status !== 'checking') return answer
  printNote(
    'The model is being tested. The test of a model that must be loaded first may take a minute.',
  )
  let model = answer
  while (model.probe?.status === 'checking') {
    await Bun.sleep(LOOK_AGAIN_MS)
    model = await client.call('GET /v1/owned-models/{slug}', 'slug', { path: { slug } })
  }
  const { status, detail = '' } = model.probe ?? {}
  const message = `A test call to the model failed. ${detail}`.trim()
  return { ...model, warnings: status === 'unreachable' ? [{ code: 'probe_failed', message }] : [] }
}

function show(model: Shown, isJson: boolean): void {
  const { probe, warnings = [] } = model
  for (const { message } of warnings) printNote(`Warning: ${message}`)
  printThing(model, isJson, [
    ['slug', model.slug],
    ['target', `owned/${model.slug}`],
    ['name', model.displayName],
    ['dialect', model.dialect],
    ['address', model.baseUrl],
    ['model', model.upstreamModelId],
    ...(formOfDialect(model.dialect).id === 'fim' ? describeFim(model) : []),
    ['input', `${model.pricingInput} cents per million tokens`],
    ['cached', `${model.pricingCachedInput} cents per million tokens`],
    ['output', `${model.pricingOutput} cents per million tokens`],
    ['credential', describeCredential(model)],
    ...(probe === null ? [] : describeProbe(probe)),
    ['created', formatTime(model.createdAt)],
    ['updated', formatTime(model.updatedAt)],
  ])
}

function describeCredential(model: Shown): string {
  const { credentialSetAt } = model
  return credentialSetAt === null ? 'none' : `set ${formatTime(credentialSetAt)}${headerOf(model)}`
}

function headerOf({ credentialHeader, probe }: Shown): string {
  const header = credentialHeader === 'auto' ? probe?.found?.credentialHeader : credentialHeader
  return header === undefined ? '' : `, sent in ${header}`
}

function describeFim({
  fimEndpoint,
  fimTemplate,
  probe,
}: Shown): readonly (readonly [string, string])[] {
  const found = probe?.found?.fimEndpoint ?? 'not found yet'
  return [
    ['fim', fimEndpoint === 'auto' ? `${found} (auto)` : fimEndpoint],
    ...(fimTemplate === 'auto' ? [] : [['template', fimTemplate] as const]),
  ]
}

function describeProbe(probe: NonNullable<Shown['probe']>): readonly (readonly [string, string])[] {
  const { status, latencyMs, checkedAt, detail, found } = probe
  const took = status === 'checking' ? '' : `, ${latencyMs} ms`
  const more = [
    ...(found?.embeddings === true ? ['embeddings'] : []),
    ...(found?.countTokens === true ? ['token counting'] : []),
  ]
  return [
    ['test call', `${status}${took}`],
    ...(detail === undefined ? [] : [['', detail] as const]),
    ...(more.length === 0 ? [] : [['has too', more.join(', ')] as const]),
    ['tested', formatTime(checkedAt)],
  ]
}
