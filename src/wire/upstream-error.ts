/** Reads an upstream's error answer, whatever its shape, so that callers of any envelope can be told. Pure. */

export interface UpstreamErrorAnswer {
  /** The vendor's own words; undefined when there are none to be found. */
  readonly message: string | undefined
  /** The vendor's code for it, where it has one. */
  readonly code?: string | undefined
  /** The answer as JSON; undefined when it is none. */
  readonly json: unknown
  /** Whether it has OpenAI's shape, `{error: {…}}`, and so can be passed on where that shape is expected. */
  readonly isNested: boolean
}

/** Shapes seen: `{error: {message}}`, `{message}`, `{message: {detail: […]}}`, `{detail}`, `{error: "…"}` (wire.md §1.1). */
export function readUpstreamError(body: Uint8Array): UpstreamErrorAnswer {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return { message: undefined, json: undefined, isNested: false }
  }
  // Some wrap it in an array of one (wire.md §3.3).
  if (Array.isArray(json) && json.length === 1) [json] = json
  if (!isObject(json)) return { message: undefined, json, isNested: false }
  const { error, message, detail } = json
  const isNested = isObject(error)
  const said = isNested ? error.message : (message ?? detail ?? error)
  const code = isNested ? error.code : json.code
  return {
    message: said === undefined || said === null ? undefined : toText(said),
    code: typeof code === 'string' ? code : undefined,
    json,
    isNested,
  }
}

/** A message may be an object (Mistral's 422): its JSON is more use than `[object Object]`. */
function toText(said: unknown): string {
  return typeof said === 'string' ? said : JSON.stringify(said)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
