/* Starts Swagger UI on this gateway's own description. Knows nothing of what the description says. */

{
  const prefersDark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
  prefersDark.addEventListener('change', follow)
  follow()

  const SCHEMAS = '#/components/schemas/'

  const partAt = (description, path) => path.reduce((part, name) => part?.[name], description)

  /** `#/a/b~1c` as names. */
  const toPath = (reference) =>
    reference
      .slice('#/'.length)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))

  /** A copy of the part with what it refers to in place of its references; one that leads back to itself stays. */
  const resolve = (part, description, within = []) => {
    if (Array.isArray(part)) return part.map((each) => resolve(each, description, within))
    if (part === null || typeof part !== 'object') return part
    const { $ref: reference, ...beside } = part
    if (typeof reference !== 'string') {
      return Object.fromEntries(
        Object.entries(part).map(([name, value]) => [name, resolve(value, description, within)]),
      )
    }
    const path = toPath(reference)
    const target = partAt(description, path)
    if (!reference.startsWith('#/') || target === undefined || within.includes(reference))
      return part
    return {
      // Shown as the schema's name.
      ...(reference.startsWith(SCHEMAS) && { title: path.at(-1) }),
      ...resolve(target, description, [...within, reference]),
      ...beside,
    }
  }

  /**
   * In place of Swagger UI's own, which knows references to other documents and for that builds a model of this whole one
   * at the start, and again for each operation that is opened: seconds of a busy page, for references within one document.
   */
  const LocalReferences = {
    fn: {
      resolveSubtree: async (description, path) => {
        const part = partAt(description, path)
        return { spec: part === undefined ? null : resolve(part, description), errors: [] }
      },
    },
  }

  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#interface',
    plugins: [LocalReferences],
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 2,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    // Neither is asked of any other host.
    validatorUrl: null,
    persistAuthorization: false,
  })
}
