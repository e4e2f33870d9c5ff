import { FUNCTION_MEMBERS } from '../../../src/contract/words.ts'
import type { ChatMessage, ChatRequest } from './conversation.ts'

export interface Settings {
  readonly system: string
  readonly temperature: string
  readonly maxOutputTokens: string
  readonly effort: string
  readonly tools: string
}

export const NO_SETTINGS: Settings = {
  system: '',
  temperature: '',
  maxOutputTokens: '',
  effort: '',
  tools: '',
}

export type SettingProblems = { readonly [Name in keyof Settings]?: string }

export type ReadSettings =
  | {
      readonly problems?: never
      readonly system: readonly ChatMessage[]
      readonly members: Pick<
        ChatRequest,
        'temperature' | 'max_output_tokens' | 'reasoning' | 'tools'
      >
    }
  | { readonly problems: SettingProblems }

export function readSettings(settings: Settings): ReadSettings {
  const temperature = readNumber(settings.temperature)
  const limit = readNumber(settings.maxOutputTokens)
  const tools = parseTools(settings.tools)
  const problems: SettingProblems = {
    ...(isWithin(temperature, 0, 2) ? {} : { temperature: 'From 0 to 2.' }),
    ...(isWithin(limit, 1, Number.MAX_SAFE_INTEGER) &&
    (limit === undefined || Number.isInteger(limit))
      ? {}
      : { maxOutputTokens: 'A whole number.' }),
    ...(tools.problem === undefined ? {} : { tools: tools.problem }),
  }
  if (Object.keys(problems).length > 0) return { problems }
  return {
    // Sent as a message, because two braces mark a variable in `instructions`.
    system: settings.system.trim() === '' ? [] : [{ role: 'system', content: settings.system }],
    members: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(limit === undefined ? {} : { max_output_tokens: limit }),
      ...(settings.effort === '' ? {} : { reasoning: { effort: settings.effort } }),
      ...(tools.tools === undefined ? {} : { tools: tools.tools }),
    },
  }
}

function readNumber(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text)
}

function isWithin(value: number | undefined, least: number, most: number): boolean {
  return value === undefined || (value >= least && value <= most)
}

export type Tools = NonNullable<ChatRequest['tools']>
type Tool = Tools[number]

type ParsedTools =
  | { readonly tools?: Tools; readonly problem?: never }
  | { readonly tools?: never; readonly problem: string }

type JsonObject = Readonly<Record<string, unknown>>

/** Empty text means no tools. */
export function parseTools(text: string): ParsedTools {
  if (text.trim() === '') return {}
  let written: unknown
  try {
    written = JSON.parse(text)
  } catch (error) {
    return { problem: `Not JSON yet: ${(error as Error).message}` }
  }
  const list = Array.isArray(written) ? written : [written]
  const tools: Tool[] = []
  for (const [index, entry] of list.entries()) {
    const where = Array.isArray(written) ? `[${index}]` : 'the tool'
    const tool = readTool(entry, where)
    if (typeof tool === 'string') return { problem: tool }
    if (tools.some(({ name }) => name === tool.name))
      return { problem: `${where}: there are two tools with the name “${tool.name}”.` }
    tools.push(tool)
  }
  return tools.length === 0 ? {} : { tools }
}

function readTool(entry: unknown, where: string): Tool | string {
  const outer = asObject(entry)
  if (outer === undefined) return `${where} must be an object with a name.`
  const { type, function: nested, ...flat } = outer
  if (type !== undefined && type !== 'function')
    return `${where}: only function tools can be tried here.`
  const tool = nested === undefined ? flat : asObject(nested)
  if (tool === undefined) return `${where}.function must be an object.`
  const unknown = Object.keys(nested === undefined ? tool : { ...flat, ...tool }).find(
    (key) => !FUNCTION_MEMBERS.some((known) => known === key),
  )
  if (unknown !== undefined)
    return `${where}.${unknown} is not known: ${FUNCTION_MEMBERS.join(', ')} are.`
  const { name, description, parameters, strict } = tool
  if (typeof name !== 'string' || name === '') return `${where}.name is missing.`
  if (description !== undefined && typeof description !== 'string')
    return `${where}.description must be text.`
  if (parameters !== undefined && asObject(parameters) === undefined)
    return `${where}.parameters must be a JSON Schema of an object.`
  if (strict !== undefined && strict !== null && typeof strict !== 'boolean')
    return `${where}.strict must be true or false.`
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters: parameters as JsonObject }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
}

function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

export const EXAMPLE_TOOLS = JSON.stringify(
  [
    {
      name: 'get_weather',
      description: 'The weather in a city, now.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      },
    },
  ],
  null,
  2,
)
