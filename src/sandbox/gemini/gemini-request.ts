/**
 * Reads a Gemini request: refuses what Google refuses, and turns the rest into a prompt. Knows no
 * answer.
 */
import type { Prompt, ToolChoice, ToolOffer } from '../compose-answer.ts'
import { countPrompt, type PromptCount } from '../count-tokens.ts'
import type { Exchange } from '../dialect.ts'
import { isObject, type JsonObject, objectsOf, stringOf, textOfContent } from '../json.ts'
import { reasoningTokensFor } from '../openai/openai-vendor.ts'
import { JSON_OBJECT } from '../prompt-texts.ts'
import { badField } from '../refusal.ts'
import {
  checkSignatures,
  countedParts,
  readContents,
  responsesAtEnd,
  textOfContentParts,
  unknownName,
} from './gemini-contents.ts'

const FIELDS = new Set([
  'cachedContent',
  'contents',
  'generationConfig',
  'labels',
  'model',
  'safetySettings',
  'serviceTier',
  'store',
  'systemInstruction',
  'toolConfig',
  'tools',
])
const SETTINGS = new Set([
  'candidateCount',
  'enableEnhancedCivicAnswers',
  'frequencyPenalty',
  'imageConfig',
  'logprobs',
  'maxOutputTokens',
  'mediaResolution',
  'presencePenalty',
  'responseJsonSchema',
  'responseLogprobs',
  'responseMimeType',
  'responseModalities',
  'responseSchema',
  'seed',
  'speechConfig',
  'stopSequences',
  'temperature',
  'thinkingConfig',
  'topK',
  'topP',
])
const MAX_STOPS = 5

export interface GeminiRequest {
  readonly prompt: Prompt
  readonly count: PromptCount
  readonly choices: number
  readonly showsThoughts: boolean
}

/** @throws Refusal 400 in Google's words. */
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
      maxOutputTokens:
        typeof settings.maxOutputTokens === 'number' ? settings.maxOutputTokens : null,
      stop: Array.isArray(settings.stopSequences)
        ? settings.stopSequences.filter((stop) => typeof stop === 'string')
        : [],
      reasoningTokens: thinking.tokens,
      ...readFormat(settings),
    },
    // Caching is implicit: what was said in an earlier turn is there.
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

/** Names may be written `like_this` too. */
function readNames(value: unknown, known: ReadonlySet<string> | undefined, at: string): JsonObject {
  const read: Record<string, unknown> = {}
  for (const [written, member] of Object.entries(isObject(value) ? value : {})) {
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
 * @param isNewer always thinks, by a level; an older model thinks when it is given a budget, and
 * knows no level
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

/** Google's own schemas write their types in capitals. */
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
