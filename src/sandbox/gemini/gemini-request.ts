/** Reads a Gemini request: refuses what Google refuses, and converts the rest to a prompt. */
import { JSON_OBJECT, type Prompt, type ToolChoice, type ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import { badField, type Exchange, type Refusal } from '../dialect.ts'
import {
  isObject,
  type JsonObject,
  joinTexts,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
  textOfContent,
  wordSet,
} from '../json.ts'
import { reasoningTokensFor } from '../openai/openai-vendor.ts'
import { openReasoning, sealReasoning } from '../thinking.ts'
import { checkLimits } from './gemini-limits.ts'

interface Content {
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

function readContents(value: unknown): Content[] {
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

function unknownName(name: string, at: string): Refusal {
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
    const called = countOf(before, 'functionCall')
    const results = countOf(content, 'functionResponse')
    if (countOf(content, 'functionCall') > 0 && before?.role !== 'user')
      throw refused(
        'Please ensure that function call turn comes immediately after a user turn or after a ' +
          'function response turn.',
      )
    if (results > 0 && called === 0)
      throw refused(
        'Please ensure that function response turn comes immediately after a function call turn.',
      )
    if (results !== called)
      throw refused(
        'Please ensure that the number of function response parts is equal to the number of ' +
          'function call parts of the function call turn.',
      )
  }
  if (countOf(contents.at(-1), 'functionCall') > 0)
    throw refused(
      'Please ensure that single turn requests end with a user role or the role field is empty.',
    )
}

/** A signature is valid in every account of the provider. */
const SIGNER = 'sandbox thought'

/** Google documents these values for histories of other models. */
const STAND_INS = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']

/** @param signed what the signature is bound to: a call's name, or nothing for a text */
export function signThought(id: string, signed: string): string {
  return Buffer.from(
    sealReasoning({ id, text: signed, isPartial: false }, SIGNER),
    'base64url',
  ).toString('base64')
}

/**
 * @param needsSignatures true for models that refuse a step of the current turn whose first call is
 * unsigned
 * @throws Refusal 400, see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
function checkSignatures(contents: readonly Content[], needsSignatures: boolean): void {
  for (const { parts } of contents) for (const part of parts) checkSignature(part)
  if (!needsSignatures) return
  const turnStart = contents.findLastIndex(
    (content) => content.role === 'user' && countOf(content, 'functionResponse') === 0,
  )
  for (const [at, { role, parts }] of contents.entries()) {
    if (at < turnStart || role !== 'model') continue
    const first = parts.find((part) => part.functionCall !== undefined)
    if (first === undefined || signatureOf(first) !== undefined) continue
    const name = stringOf(objectOf(first.functionCall).name)
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
  const call = stringOf(objectOf(part.functionCall).name)
  if (opened === null || opened.text !== call) throw refused('Corrupted thought signature.')
}

function textOfContentParts({ parts }: Content): string {
  return joinTexts(parts.map((part) => (part.thought === true ? '' : stringOf(part.text))))
}

function countedParts(content: Content): string {
  const calls = content.parts.flatMap((part) => [part.functionCall, part.functionResponse])
  return [
    textOfContentParts(content),
    ...calls.filter(isObject).map((call) => JSON.stringify(call)),
  ].join('')
}

/** Only results at the end of the conversation; a text wrapped in an object counts as itself. */
function responsesAtEnd(contents: readonly Content[]): string[] {
  return objectsOf(contents.at(-1)?.parts).flatMap(({ functionResponse }) => {
    if (!isObject(functionResponse)) return []
    const response = objectOf(functionResponse.response)
    const plain = response.result ?? response.output ?? response.error
    return [typeof plain === 'string' ? plain : JSON.stringify(response)]
  })
}

const FIELDS = wordSet(
  'cachedContent contents generationConfig labels model safetySettings serviceTier store',
  'systemInstruction toolConfig tools',
)
const SETTINGS = wordSet(
  'candidateCount enableEnhancedCivicAnswers frequencyPenalty imageConfig logprobs',
  'maxOutputTokens mediaResolution presencePenalty responseJsonSchema responseLogprobs',
  'responseMimeType responseModalities responseSchema seed speechConfig stopSequences',
  'temperature thinkingConfig topK topP',
)
const MAX_STOPS = 5

export interface GeminiRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
  readonly choices: number
  readonly showsThoughts: boolean
}

export function readGeminiRequest({ body: written, model }: Exchange): GeminiRequest {
  const isLenient = model.base === 'echo-lenient'
  const isNewer = model.base === 'echo-reasoning'
  const body = readNames(written, isLenient ? undefined : FIELDS, '')
  const settings = readNames(
    body.generationConfig,
    isLenient ? undefined : SETTINGS,
    'generation_config',
  )
  const contents = readContents(body.contents)
  checkSignatures(contents, isNewer)
  const tools = readDeclarations(body.tools)
  checkRanges(settings)
  const thinking = readThinking(settings.thinkingConfig, isNewer)
  checkLimits(settings, tools.length > 0, model)
  const parts = [
    ...(tools.length > 0 ? [JSON.stringify(body.tools)] : []),
    ...(isObject(body.systemInstruction) ? [textOfContent(body.systemInstruction.parts)] : []),
    ...contents.map(countedParts),
  ]
  return {
    prompt: {
      lastUserText:
        contents
          .filter(({ role }) => role === 'user')
          .map(textOfContentParts)
          .findLast((text) => text !== '') ?? '',
      toolOutputs: responsesAtEnd(contents),
      tools,
      toolChoice: readMode(body.toolConfig, tools),
      isParallel: true,
      maxOutputTokens: numberOf(settings.maxOutputTokens),
      stop: stringsOf(settings.stopSequences),
      reasoningTokens: thinking.tokens,
      ...readFormat(settings),
    },
    // Caching is implicit: the contents of earlier turns are cached.
    count: countPrompt(
      parts,
      contents.some(({ role }) => role === 'model') ? 'implicit' : undefined,
    ),
    choices:
      typeof settings.candidateCount === 'number'
        ? Math.min(Math.max(1, settings.candidateCount), 8)
        : 1,
    showsThoughts: thinking.isShown,
  }
}

/** Google also accepts names `like_this`. */
function readNames(value: unknown, known: ReadonlySet<string> | undefined, at: string): JsonObject {
  const read: Record<string, unknown> = {}
  for (const [written, member] of Object.entries(objectOf(value))) {
    const name = written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (known !== undefined && !known.has(name)) throw unknownName(written, at)
    read[name] = member
  }
  return read
}

function checkRanges({ temperature, topP, stopSequences, maxOutputTokens }: JsonObject): void {
  const refuse = (name: string, message: string) =>
    badField(`* GenerateContentRequest.generation_config.${name}: ${message}\n`, name)
  if (typeof temperature === 'number' && (temperature < 0 || temperature > 2))
    throw refuse('temperature', 'temperature must be in the range [0.0, 2.0].')
  if (typeof topP === 'number' && (topP < 0 || topP > 1))
    throw refuse('top_p', 'top_p must be in the range [0.0, 1.0].')
  if (Array.isArray(stopSequences) && stopSequences.length > MAX_STOPS)
    throw refuse('stop_sequences', `at most ${MAX_STOPS} stop sequences can be given.`)
  if (typeof maxOutputTokens === 'number' && maxOutputTokens < 1)
    throw refuse('max_output_tokens', 'max_output_tokens must be positive.')
}

/**
 * @param isNewer always thinks, by a level; an older model thinks with a budget, and knows no level
 */
function readThinking(value: unknown, isNewer: boolean) {
  const { thinkingBudget, thinkingLevel, includeThoughts } = readNames(value, undefined, '')
  if (thinkingBudget !== undefined && thinkingLevel !== undefined)
    throw badField(
      'You can only set only one of thinking budget and thinking level.',
      'thinkingConfig',
    )
  if (thinkingLevel !== undefined && !isNewer)
    throw badField('Thinking level is not supported for this model.', 'thinkingConfig')
  const level = stringOf(thinkingLevel).toLowerCase()
  const isOn = isNewer || (thinkingBudget !== undefined && thinkingBudget !== 0)
  const tokens = isOn ? reasoningTokensFor(level === '' ? 'high' : level) : 0
  return { tokens, isShown: tokens > 0 && includeThoughts === true }
}

function readDeclarations(value: unknown): ToolOffer[] {
  const declared = objectsOf(value).flatMap((tool) =>
    objectsOf(tool.functionDeclarations ?? tool.function_declarations),
  )
  return declared.map((declaration, index) => {
    const at = `tools[0].function_declarations[${index}]`
    if (!/^[a-zA-Z_][\w.:-]{0,127}$/.test(stringOf(declaration.name)))
      throw badField(
        `* GenerateContentRequest.${at}.name: Invalid function name. Must start with a letter ` +
          'or an underscore.\n',
        'tools',
      )
    const { parameters } = declaration
    if (isObject(parameters)) {
      const foreign = ['$schema', 'additionalProperties'].find(
        (name) => parameters[name] !== undefined,
      )
      if (foreign !== undefined) throw unknownName(foreign, `${at}.parameters`)
    }
    const schema =
      declaration.parametersJsonSchema ?? declaration.parameters_json_schema ?? parameters
    return { name: stringOf(declaration.name), parameters: lowerTypes(schema) }
  })
}

/** Google's own schemas use upper-case types. */
function lowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerTypes)
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : lowerTypes(value),
    ]),
  )
}

function readMode(value: unknown, tools: readonly ToolOffer[]): ToolChoice {
  const config = readNames(readNames(value, undefined, '').functionCallingConfig, undefined, '')
  const mode = stringOf(config.mode).toUpperCase()
  const [name] = Array.isArray(config.allowedFunctionNames) ? config.allowedFunctionNames : []
  if (mode === 'NONE') return { type: 'none' }
  if (mode !== 'ANY') return { type: 'auto' }
  if (tools.length === 0)
    throw badField('Function calling config is set without function_declarations.', 'toolConfig')
  if (name === undefined) return { type: 'required' }
  if (tools.some((tool) => tool.name === name)) return { type: 'named', name: stringOf(name) }
  throw badField(
    'allowed_function_names should be a subset of the names of the function declarations.',
    'toolConfig',
  )
}

function readFormat(settings: JsonObject): { readonly schema?: unknown } {
  const schema = settings.responseJsonSchema ?? settings.responseSchema
  if (settings.responseMimeType !== 'application/json') {
    if (schema === undefined) return {}
    throw badField(
      '* GenerateContentRequest.generation_config.response_mime_type: must be ' +
        'application/json with a response schema.\n',
      'responseMimeType',
    )
  }
  return { schema: schema === undefined ? JSON_OBJECT : lowerTypes(schema) }
}
