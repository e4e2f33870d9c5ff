/**
 * The gateway in Codex's `config.toml`. Only whole lines are added or removed, so that comments and
 * everything else stay.
 */
import { CliError } from '../cli-error.ts'
import { assertNoOtherCatalog, isOwnCatalog } from './codex-catalog.ts'
import type { Connection } from './connected-client.ts'
import { isMembers, type Members } from './json-settings.ts'

const TABLE = /^\s*\[/
const OWN_TABLE = /^\s*\[model_providers\.gatehouse(?:\.auth)?\]/
const REPLACED =
  /^\s*(?:model|model_provider)\s*=|^\s*model_catalog_json\s*=.*\/gatehouse-models\.json"/

/** @throws CliError when the text cannot be changed without a loss */
export function writeCodex(text: string, connection: Connection, file: string): string {
  const before = parseToml(text, file)
  const providers = providersOf(before, file)
  if (Object.hasOwn(providers, 'gatehouse'))
    throw new CliError(
      'conflict',
      `${file} has a provider 'gatehouse' already, which gatehouse connect did not write: rename or ` +
        'remove it first. Nothing was written.',
    )
  if (Object.hasOwn(before, 'profile'))
    throw new CliError(
      'conflict',
      `${file} selects a profile, which may choose another model: remove the line 'profile' first. ` +
        'Nothing was written.',
    )
  const { ownFile } = connection
  if (ownFile !== undefined) assertNoOtherCatalog(before, file)
  const provider = {
    name: 'Gatehouse',
    base_url: `${connection.base}/v1`,
    wire_api: 'responses',
    auth: { command: 'cat', args: [connection.tokenFile] },
  }
  const { head, tables } = splitLines(text)
  const after = joinLines([
    `model = ${JSON.stringify(connection.gate)}`,
    'model_provider = "gatehouse"',
    ...(ownFile === undefined ? [] : [`model_catalog_json = ${JSON.stringify(ownFile)}`]),
    ...head.filter((line) => !REPLACED.test(line)),
    ...tables,
    '',
    '[model_providers.gatehouse]',
    `name = ${JSON.stringify(provider.name)}`,
    `base_url = ${JSON.stringify(provider.base_url)}`,
    `wire_api = ${JSON.stringify(provider.wire_api)}`,
    '',
    '[model_providers.gatehouse.auth]',
    `command = ${JSON.stringify(provider.auth.command)}`,
    `args = [${JSON.stringify(connection.tokenFile)}]`,
  ])
  return assertToml(
    after,
    {
      ...before,
      model: connection.gate,
      model_provider: 'gatehouse',
      ...(ownFile === undefined ? {} : { model_catalog_json: ownFile }),
      model_providers: { ...providers, gatehouse: provider },
    },
    file,
  )
}

/**
 * @returns the text without the gateway, with the model and provider of `former`
 * @throws CliError when the text cannot be changed without a loss
 */
export function restoreCodex(text: string, former: string, file: string): string {
  const { model: _, model_provider: __, ...rest } = parseToml(text, file)
  const { model_catalog_json: catalog, ...others } = rest
  const now = isOwnCatalog(catalog) ? others : rest
  const { gatehouse: ___, ...providers } = providersOf(now, file)
  const { model, model_provider, model_providers } = parseToml(former, file)
  const { head, tables } = splitLines(text)
  const after = joinLines([
    ...splitLines(former).head.filter((line) => REPLACED.test(line)),
    ...head.filter((line) => !REPLACED.test(line)),
    ...withoutOwnTables(tables),
  ])
  const { model_providers: ____, ...kept } = now
  const hasProviders = Object.keys(providers).length > 0 || model_providers !== undefined
  return assertToml(
    after,
    {
      ...kept,
      ...(model === undefined ? {} : { model }),
      ...(model_provider === undefined ? {} : { model_provider }),
      ...(hasProviders ? { model_providers: providers } : {}),
    },
    file,
  )
}

function splitLines(text: string): { head: readonly string[]; tables: readonly string[] } {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const first = lines.findIndex((line) => TABLE.test(line))
  const end = first === -1 ? lines.length : first
  return { head: lines.slice(0, end), tables: lines.slice(end) }
}

function withoutOwnTables(lines: readonly string[]): readonly string[] {
  const kept: string[] = []
  let isOwn = false
  for (const line of lines) {
    if (TABLE.test(line)) isOwn = OWN_TABLE.test(line)
    if (!isOwn) kept.push(line)
  }
  return kept
}

function joinLines(lines: readonly string[]): string {
  const last = lines.findLastIndex((line) => line !== '')
  return last === -1 ? '' : `${lines.slice(0, last + 1).join('\n')}\n`
}

function parseToml(text: string, file: string): Members {
  try {
    return Bun.TOML.parse(text) as Members
  } catch (error) {
    throw new CliError('failed', `${file} is not valid TOML: nothing was written. (${error})`)
  }
}

function providersOf({ model_providers: providers = {} }: Members, file: string): Members {
  if (isMembers(providers)) return providers
  throw new CliError('failed', `'model_providers' in ${file} is not a table: nothing was written.`)
}

/**
 * A line inside a multi-line text may look like a setting, so the result is parsed and compared.
 */
function assertToml(text: string, expected: Members, file: string): string {
  try {
    if (Bun.deepEquals(Bun.TOML.parse(text), expected)) return text
  } catch {
    // The refusal below also covers invalid TOML.
  }
  throw new CliError(
    'failed',
    `${file} cannot be changed without a loss: nothing was written. Change it by hand, as ` +
      'docs/guides/clients.md shows.',
  )
}
