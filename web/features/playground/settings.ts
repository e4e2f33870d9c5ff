/**
 * The settings that every message carries: as they are typed, what is wrong with them, and what
 * becomes of them. Pure.
 */
import type { ChatMessage, ChatRequest } from './conversation.ts'
import { parseTools } from './parse-tools.ts'

/** The typed texts; the gate decides about empty ones. */
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
    // Not `instructions`: there, two braces would stand for a variable.
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
