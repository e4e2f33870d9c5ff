/**
 * The credentials of owned models that a push creates: from variables, else asked for; never from
 * the file. An empty one is none.
 */
import { CliError } from '../cli-error.ts'
import { canAsk, readSecret } from '../input.ts'
import type { Change } from './plan-changes.ts'

export function isCredentialNeeded({ action, kind }: Change): boolean {
  return action === 'create' && kind.section === 'ownedModels'
}

/** `OWNED_MODEL_HOUSE_LLAMA_CREDENTIAL` for `house-llama`. */
export function credentialVariableOf(slug: string): string {
  return `OWNED_MODEL_${slug.toUpperCase().replaceAll('-', '_')}_CREDENTIAL`
}

/**
 * @returns by slug; of a model without one, nothing
 * @throws CliError that names every variable that is missing, where there is nobody to ask
 */
export async function findCredentials(
  changes: readonly Change[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ReadonlyMap<string, string>> {
  const slugs = changes.filter(isCredentialNeeded).map(({ name }) => name)
  const given = (slug: string) => environment[credentialVariableOf(slug)]?.trim()
  const missing = slugs.filter((slug) => given(slug) === undefined)
  if (missing.length > 0 && !canAsk()) {
    const variables = missing.map(credentialVariableOf).join(', ')
    throw new CliError(
      'failed',
      'It has to be said which credential a new owned model has, so nothing was changed. Give ' +
        `it in a variable, empty for a server that takes none: ${variables}.`,
    )
  }
  const credentials = new Map<string, string>()
  for (const slug of slugs) {
    const question = `The credential of the owned model ${slug} (empty: its server takes none)`
    const credential = given(slug) ?? (await readSecret(question))
    if (credential !== '') credentials.set(slug, credential)
  }
  return credentials
}
