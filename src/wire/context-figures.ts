/**
 * The figures in a vendor's words that a request is too long for its model: whether its input alone
 * is, or its input and the output that it asks for together. Pure.
 */

/** Tokens of the request that was refused. */
export interface AskedTokens {
  /** An estimate of ours. */
  readonly inputTokens: number
  /** The cap on the output. Undefined: the request has none. */
  readonly outputTokens: number | undefined
}

export interface ContextFigures {
  readonly limit: number
  readonly input: number
  /** 0: the input alone is too long. */
  readonly output: number
}

const N = String.raw`[\d,]{1,20}`
/** Vendors' sentences are shorter. The shapes are only tried on so much of a text. */
const MOST_CHARACTERS = 2_000

function shape(strings: TemplateStringsArray, ...names: readonly string[]): RegExp {
  return new RegExp(strings.raw.map((text, at) => text + toGroup(names[at])).join(''))
}

function toGroup(name: string | undefined): string {
  return name === undefined ? '' : `(?<${name}>${N})`
}

/** Of input and output together, in lower case. `parts` is a list such as `3 in the messages`. */
const SUMS: readonly RegExp[] = [
  // vLLM since 2025: input and output are checked against each other. `least` says that it stopped
  // counting there.
  shape`too large: ${'output'}\. this model's maximum context length is ${'limit'} tokens and your request has ${'input'} input tokens`,
  shape`context length is ${'limit'} tokens\. however, you requested ${'output'} output tokens and your prompt contains (?:(?<least>at least )?${'input'} input tokens|\d+ characters)`,
  // OpenAI's first wording, vLLM's, DeepSeek's; OpenRouter's has `about`.
  shape`context length is ${'limit'} tokens[.,] however,? you requested (?:about )?${'total'} tokens(?: \((?<parts>[^)]*)\))?`,
  // SGLang.
  shape`token count exceeds the model's maximum context length of ${'limit'} tokens(?:\. you requested a total of ${'total'} tokens: ${'input'} tokens from the input messages and ${'output'} )?`,
  // Together, Text Generation Inference.
  shape`\`inputs\` tokens \+ \`max_new_tokens\` must be <= ${'limit'}(?:\. given: ${'input'} \`inputs\` tokens and ${'output'} )?`,
  // Kimi counts both: https://platform.moonshot.cn/docs/guide/faq.
  shape`exceeded model token limit ?: ?${'limit'}(?: \(requested: ${'total'}\))?`,
]

/** Of the input alone. */
const INPUTS: readonly RegExp[] = [
  shape`context length is ${'limit'} tokens\. however, your (?:messages resulted in|request has) ${'input'} (?:input )?tokens`,
  shape`input(?: length)? \(?${'input'}(?: tokens)?\)? (?:is longer than the model's context length|exceeds (?:the )?(?:model's )?maximum (?:context|allowed input) length)(?: of)? \(?${'limit'}`,
  shape`\(${'input'} tokens\) (?:exceeds the available|is larger than the max) context size \(${'limit'} tokens\)`,
  shape`input token count \(${'input'}\) exceeds the maximum number of tokens allowed \(${'limit'}\)`,
  shape`maximum prompt length is ${'limit'} but the request contains ${'input'} tokens`,
  shape`prompt contains ${'input'} tokens.{0,40} too large for model with ${'limit'} maximum`,
  shape`prompt is too long: ${'input'}, model maximum context length: ${'limit'}`,
  shape`prompt is too long: ${'input'} tokens > ${'limit'} maximum`,
  shape`n_keep \(${'input'}\) >= n_ctx \(${'limit'}\)`,
  shape`keep the first ${'input'} tokens.{0,80} context length of only ${'limit'} tokens`,
  shape`configured limit of ${'limit'} tokens\. your messages resulted in ${'input'} tokens`,
]

/**
 * Claude Code (2.1) keeps 1,000 tokens free and asks for no less than 3,000: with less room than
 * that, only a shorter conversation helps.
 */
export const LEAST_ROOM = 4_000

/** @param text in lower case. @returns undefined where it has no figures of a known form */
export function readContextFigures(text: string, asked: AskedTokens): ContextFigures | undefined {
  const read = text.slice(0, MOST_CHARACTERS)
  const ofSum = firstGroups(SUMS, read)
  if (ofSum !== undefined) return readSum(ofSum, asked)
  const { limit, input } = firstGroups(INPUTS, read) ?? {}
  return limit === undefined || input === undefined
    ? undefined
    : { limit: toNumber(limit), input: toNumber(input), output: 0 }
}

type Groups = Readonly<Record<string, string | undefined>>

function firstGroups(shapes: readonly RegExp[], text: string): Groups | undefined {
  for (const each of shapes) {
    const found = each.exec(text)
    if (found?.groups !== undefined) return found.groups
  }
  return undefined
}

function readSum(groups: Groups, asked: AskedTokens): ContextFigures {
  const limit = toNumber(groups.limit ?? '')
  const parts = groups.parts === undefined ? undefined : readParts(groups.parts)
  const told = groups.output === undefined ? parts?.output : toNumber(groups.output)
  const output = told ?? asked.outputTokens ?? 0
  const counted = groups.input === undefined ? parts?.input : toNumber(groups.input)
  if (groups.least !== undefined)
    // The server has not counted further: what we estimate beyond that spares the client many
    // rounds, as far as it does not tell the client to shorten its conversation.
    return {
      ...{ limit, output },
      input: Math.max(counted ?? 0, Math.min(asked.inputTokens, limit - LEAST_ROOM)),
    }
  if (counted !== undefined) return { limit, input: counted, output }
  const total = groups.total === undefined ? 0 : toNumber(groups.total)
  return { limit, input: total > output ? total - output : asked.inputTokens, output }
}

/** `30 of text input, 4 of tool input, 9 in the output`; `30 in your prompt; 9 for the completion`. */
function readParts(parts: string): Pick<ContextFigures, 'input' | 'output'> | undefined {
  let input = 0
  let output = 0
  for (const part of parts.split(/[,;] (?:and )?/)) {
    const [figure = ''] = part.split(' ', 1)
    const tokens = toNumber(figure)
    if (Number.isNaN(tokens)) continue
    if (/ (?:completion|output)\b/.test(part)) output += tokens
    else input += tokens
  }
  return input === 0 ? undefined : { input, output }
}

function toNumber(figure: string): number {
  return Number(figure.replaceAll(',', ''))
}
