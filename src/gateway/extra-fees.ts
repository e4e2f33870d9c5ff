/** Whether a request asks for what has prices of its own, beside those of tokens. It must not know any price. */
import type { JsonObject } from '../wire/json-splice.ts'

/** Spellings of the tier that everybody gets. */
const USUAL_TIERS: ReadonlySet<unknown> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
])
/** Beginnings of the types of tools that vendors run and charge for; a version may follow. */
const HOSTED_TOOLS = [
  'web_search',
  'file_search',
  'code_interpreter',
  'code_execution',
  'image_generation',
  'document_library',
  'x_search',
]
const HOSTED_MEMBERS = ['web_search_options', 'search_parameters', 'plugins']

/** Reads no more than the tools, and those only where one of the names is in them. */
export function hasExtraFees(body: JsonObject): boolean {
  const tier = body.get('service_tier')
  if (tier !== undefined && body.type(tier) === 'string' && !USUAL_TIERS.has(body.value(tier))) return true
  for (const name of HOSTED_MEMBERS) {
    const member = body.get(name)
    if (member !== undefined && body.type(member) !== 'null') return true
  }
  const tools = body.get('tools')
  if (tools === undefined || body.type(tools) !== 'array') return false
  const raw = body.raw(tools)
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  if (!HOSTED_TOOLS.some((name) => text.includes(`"${name}`))) return false
  // A function of the caller's own may have such a name too.
  const listed = body.value(tools) as readonly unknown[]
  return listed.some((tool) => isHosted((tool as { type?: unknown } | null)?.type))
}

function isHosted(type: unknown): boolean {
  return typeof type === 'string' && HOSTED_TOOLS.some((name) => type.startsWith(name))
}
