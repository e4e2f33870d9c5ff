/**
 * Codex's list of models with the gate in it. Codex's own models have Codex's own prompts, so the
 * gate's entry is made from `codex debug models` on the user's machine.
 */
import { dirname, join } from 'node:path'
import { CliError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { printNote } from '../output.ts'
import type { Environment, OwnFile } from './connected-client.ts'
import { isMembers, type Members } from './json-settings.ts'

const CATALOG = 'gatehouse-models.json'
/** The oldest version with `debug models` is newer. Only the presence of a version matters. */
const ANY_VERSION = '0.171.0'
const MAX_WAIT_MS = 15_000

export const catalogFileOf = (configFile: string) => join(dirname(configFile), CATALOG)

/**
 * @returns undefined when the gateway's own list has the gate, when Codex is not installed, or when
 * its models cannot be read
 */
export async function createCatalog(
  environment: Environment,
  client: Client,
  { gate, file }: { readonly gate: string; readonly file: string },
): Promise<OwnFile | undefined> {
  const program = Bun.which('codex', { PATH: environment.PATH ?? '' })
  if (program === null || (await isListed(client, gate))) return undefined
  const [model] = (await readModels(program, environment)) ?? []
  if (model === undefined) {
    printNote(
      "Codex will warn that the gate's metadata is not found, because `codex debug models` gave " +
        'no list of models. Calls work all the same.',
    )
    return undefined
  }
  const { context_length: context, input_modalities: modalities } = await client.callNamed(
    'GET /v1/models/{id}',
    'id',
    { path: { id: gate } },
  )
  if (typeof context !== 'number')
    printNote(
      `The context of the gate '${gate}' is not known, so Codex gets that of ${String(model.slug)}. ` +
        `Set it: gatehouse gates update ${gate} --fact contextTokens=N, and connect again.`,
    )
  const entry = {
    ...model,
    slug: gate,
    display_name: gate,
    description: 'A gate of Gatehouse.',
    ...(typeof context === 'number'
      ? { context_window: context, max_context_window: context }
      : {}),
    ...(Array.isArray(modalities) ? { input_modalities: modalities } : {}),
  }
  return { file: catalogFileOf(file), text: `${JSON.stringify({ models: [entry] }, null, 2)}\n` }
}

async function isListed(client: Client, gate: string): Promise<boolean> {
  const query = { client_version: ANY_VERSION }
  const { models } = await client.callNamed('GET /v1/models', 'data', { query })
  return Array.isArray(models) && models.some((each) => isMembers(each) && each.slug === gate)
}

async function readModels(
  program: string,
  environment: Environment,
): Promise<readonly Members[] | undefined> {
  const asked = Bun.spawn([program, 'debug', 'models'], {
    env: { ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: MAX_WAIT_MS,
  })
  const text = await new Response(asked.stdout).text()
  if ((await asked.exited) !== 0) return undefined
  try {
    const { models } = JSON.parse(text) as { models?: unknown }
    return Array.isArray(models) ? models.filter(isMembers) : undefined
  } catch {
    return undefined
  }
}

/** @throws CliError when the user's settings name another list */
export function assertNoOtherCatalog(settings: Members, file: string): void {
  const { model_catalog_json: named } = settings
  if (named === undefined || isOwnCatalog(named)) return
  throw new CliError(
    'conflict',
    `${file} names a list of models in 'model_catalog_json', which hides every other model: add the ` +
      "gate to that list, or remove the line 'model_catalog_json' first. Nothing was written.",
  )
}

export const isOwnCatalog = (named: unknown) =>
  typeof named === 'string' && named.endsWith(`/${CATALOG}`)
