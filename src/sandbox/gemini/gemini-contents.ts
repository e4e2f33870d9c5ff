/**
 * The `contents` of a Gemini request: what Google refuses in them, and what they say. Knows no
 * setting.
 */
import { isObject, type JsonObject, objectsOf, stringOf } from '../json.ts'
import { badField, type Refusal } from '../refusal.ts'
import { openReasoning, sealReasoning } from '../seal-reasoning.ts'

export interface Content {
  readonly role: string
  readonly parts: readonly JsonObject[]
}

const DATA = [
  'text',
  'inlineData',
  'inline_data',
  'fileData',
  'file_data',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
]

const refused = (message: string): Refusal => badField(message, 'contents')

/** @throws Refusal 400 in Google's words. */
export function readContents(value: unknown): Content[] {
  if (!Array.isArray(value) || value.length === 0)
    throw refused('* GenerateContentRequest.contents: contents is not specified\n')
  const contents = value.map((content, at) => readContent(content, at))
  checkTurns(contents)
  return contents
}

function readContent(content: unknown, at: number): Content {
  if (!isObject(content)) throw refused(`Invalid value at 'contents[${at}]'`)
  for (const name of Object.keys(content))
    if (name !== 'role' && name !== 'parts') throw unknownName(name, `contents[${at}]`)
  const role = content.role ?? 'user'
  if (role !== 'user' && role !== 'model' && role !== 'function')
    throw refused('Please use a valid role: user, model.')
  if (!Array.isArray(content.parts) || content.parts.length === 0)
    throw refused(
      `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.\n`,
    )
  const parts = content.parts.map((part, index) => {
    if (isObject(part) && DATA.some((name) => part[name] !== undefined)) return part
    throw refused(
      `* GenerateContentRequest.contents[${at}].parts[${index}].data: required oneof field ` +
        `'data' must have one initialized field\n`,
    )
  })
  for (const [index, part] of parts.entries()) checkCall(part, `contents[${at}].parts[${index}]`)
  return { role: role === 'function' ? 'user' : role, parts }
}

export function unknownName(name: string, at: string): Refusal {
  const place = at === '' ? '' : ` at '${at}'`
  return badField(
    `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`,
    at === '' ? name : at,
  )
}

function checkCall(part: JsonObject, at: string): void {
  for (const name of ['functionCall', 'functionResponse'] as const) {
    const call = part[name]
    if (call === undefined) continue
    if (!isObject(call) || stringOf(call.name) === '')
      throw refused(`* GenerateContentRequest.${at}.${name}.name: Name cannot be empty.\n`)
    const value = name === 'functionCall' ? call.args : call.response
    const isMissing = value === undefined || value === null
    if (isMissing ? name === 'functionResponse' : !isObject(value))
      throw refused(`Invalid value at '${at}.${name}' (type.googleapis.com/google.protobuf.Struct)`)
  }
}

const countOf = (content: Content | undefined, name: string): number =>
  (content?.parts ?? []).filter((part) => part[name] !== undefined).length

function checkTurns(contents: readonly Content[]): void {
  for (const [at, content] of contents.entries()) {
    const before = contents[at - 1]
    const calls = countOf(content, 'functionCall')
    const results = countOf(content, 'functionResponse')
    if (calls > 0 && before?.role !== 'user')
      throw refused(
        'Please ensure that function call turn comes immediately after a user turn or after a ' +
          'function response turn.',
      )
    if (results > 0 && countOf(before, 'functionCall') === 0)
      throw refused(
        'Please ensure that function response turn comes immediately after a function call turn.',
      )
    if (
      (results > 0 || countOf(before, 'functionCall') > 0) &&
      results !== countOf(before, 'functionCall')
    )
      throw refused(
        'Please ensure that the number of function response parts is equal to the number of ' +
          'function call parts of the function call turn.',
      )
  }
  const last = contents.at(-1)
  if (countOf(last, 'functionCall') > 0)
    throw refused(
      'Please ensure that single turn requests end with a user role or the role field is empty.',
    )
}

/** A signature is good for every account of the vendor. */
const SIGNER = 'sandbox thought'

/** Google documents them for histories that another model wrote. */
const STAND_INS = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']

/** @param signed what the signature is bound to: of a call its name, of a text nothing */
export function signThought(id: string, signed: string): string {
  return Buffer.from(
    sealReasoning({ id, text: signed, isPartial: false }, SIGNER),
    'base64url',
  ).toString('base64')
}

/**
 * @param needsSignatures a model that refuses the calls of the turn being continued when the first
 * of each step is unsigned
 * @throws Refusal 400, see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function checkSignatures(contents: readonly Content[], needsSignatures: boolean): void {
  for (const { parts } of contents) for (const part of parts) checkSignature(part)
  if (!needsSignatures) return
  const turnStart = contents.findLastIndex(
    (content) => content.role === 'user' && countOf(content, 'functionResponse') === 0,
  )
  for (const [at, { role, parts }] of contents.entries()) {
    if (at < turnStart || role !== 'model') continue
    const first = parts.find((part) => part.functionCall !== undefined)
    if (first === undefined || signatureOf(first) !== undefined) continue
    const name = isObject(first.functionCall) ? stringOf(first.functionCall.name) : ''
    throw refused(
      'Function call is missing a thought_signature in functionCall parts. This is required ' +
        'for tools to work correctly, and missing thought_signature may lead to degraded model ' +
        `performance. Additional data, function call \`default_api:${name}\` , position ` +
        `${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures ` +
        'for more details.',
    )
  }
}

const signatureOf = (part: JsonObject): unknown => part.thoughtSignature ?? part.thought_signature

function checkSignature(part: JsonObject): void {
  const signature = signatureOf(part)
  if (signature === undefined) return
  const text = stringOf(signature)
  if (STAND_INS.includes(text)) return
  const bytes = Buffer.from(text, 'base64')
  const opened =
    bytes.toString('base64') === text ? openReasoning(bytes.toString('base64url'), SIGNER) : null
  const call = isObject(part.functionCall) ? stringOf(part.functionCall.name) : ''
  if (opened === null || opened.text !== call) throw refused('Corrupted thought signature.')
}

/** Thoughts are not said. */
export function textOfContentParts({ parts }: Content): string {
  return parts
    .filter((part) => part.thought !== true && typeof part.text === 'string' && part.text !== '')
    .map((part) => part.text)
    .join('\n')
}

/** The text of a content that counts as tokens. */
export function countedParts(content: Content): string {
  const calls = content.parts.flatMap((part) => [part.functionCall, part.functionResponse])
  return [
    textOfContentParts(content),
    ...calls.filter(isObject).map((call) => JSON.stringify(call)),
  ].join('')
}

/**
 * Only the results that end the conversation; a text that was wrapped to be an object counts as
 * itself.
 */
export function responsesAtEnd(contents: readonly Content[]): string[] {
  return objectsOf(contents.at(-1)?.parts).flatMap(({ functionResponse }) => {
    if (!isObject(functionResponse)) return []
    const response = isObject(functionResponse.response) ? functionResponse.response : {}
    const plain = response.result ?? response.output ?? response.error
    return [typeof plain === 'string' ? plain : JSON.stringify(response)]
  })
}
