/** The credentials of owned models that a push creates: from variables, else asked for; never from the file. */
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

/** @throws CliError that names every variable that is missing, where there is nobody to ask */
export async function findCredentials(
  changes: readonly Change[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ReadonlyMap<string, string>> {
  const slugs = changes.filter(isCredentialNeeded).map(({ name }) => name)
  const given = (slug: string) => environment[credentialVariableOf(slug)]?.trim() || undefined
  const missing = slugs.filter((slug) => given(slug) === undefined)
  if (missing.length > 0 && !canAsk()) {
    const variables = missing.map(credentialVariableOf).join(', ')
    throw new CliError(
      'failed',
      `A new owned model needs a credential, so nothing was changed. Give it in a variable: ${variables}.`,
    )
  }
  const credentials = new Map<string, string>()
  for (const slug of slugs) {
    const credential = given(slug) ?? (await readSecret(`The credential of the owned model ${slug}`))
    if (credential === '')
      throw new CliError('failed', `Without a credential of ${slug} nothing was changed.`)
    credentials.set(slug, credential)
  }
  return credentials
}
