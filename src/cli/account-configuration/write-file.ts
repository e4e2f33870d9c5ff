/**
 * The server's state → the configuration file's text. The same state always gives the same text.
 */
import { Document, visit } from 'yaml'
import { CONFIGURATION_VERSION } from '../../contract/account-configuration.ts'
import type { JsonObject } from '../client.ts'
import { inOrder, type Kind, toCompact } from './kinds.ts'

/** Nothing that tells one server or one hour from another. */
const HEADING = `# Gates and what belongs to them, for review in version control.
# Written by \`gatehouse config pull\`, compared by \`gatehouse config diff\`, applied by \`gatehouse config push\`.
# What is left out has its default; of a section that is left out nothing is changed. No secret belongs in this file.
`

export function toFileText(
  entries: ReadonlyMap<Kind, readonly { readonly entry: JsonObject }[]>,
): string {
  const sections = [...entries].map(([kind, list]) => {
    const compact = inOrder(
      kind,
      list.map(({ entry }) => entry),
    ).map((entry) => toCompact(kind, entry))
    return toYaml({ [kind.section]: compact })
  })
  return [HEADING, toYaml({ version: CONFIGURATION_VERSION }), ...sections].join('\n')
}

/**
 * Long lines stay whole: where they were folded, a changed word would change the lines after it.
 */
function toYaml(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    // A block would lose the space at either end.
    Scalar(_, node) {
      if (typeof node.value === 'string' && node.value !== node.value.trim())
        node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 })
}
