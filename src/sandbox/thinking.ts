/** How a Claude model is asked to think, and what it refuses beside it. Knows no message. */
import { isObject, type JsonObject, stringOf } from './json.ts'
import { reasoningTokensFor } from './openai/openai-vendor.ts'
import { badField } from './refusal.ts'
import { openReasoning, sealReasoning } from './seal-reasoning.ts'

export interface ThinkingSettings {
  readonly type: 'off' | 'budget' | 'adaptive'
  /** False: the text stays out of the answer, only its signature is there. */
  readonly isShown: boolean
  readonly tokens: number
}

const SMALLEST_BUDGET = 1024
const OFF: ThinkingSettings = { type: 'off', isShown: false, tokens: 0 }

/**
 * @param isNewer a model that decides itself how much to think: it takes no budget and no sampling
 * settings
 * @throws Refusal 400 in Anthropic's words
 */
export function readThinking(body: JsonObject, isNewer: boolean): ThinkingSettings {
  if (isNewer) refuseSampling(body)
  const { thinking } = body
  if (thinking === undefined || thinking === null) return OFF
  const type = isObject(thinking) ? thinking.type : undefined
  if (type === 'disabled') return OFF
  if (type !== 'enabled' && type !== 'adaptive') {
    throw badField(
      `thinking: Input tag '${String(type)}' found using 'type' does not match any of the ` +
        `expected tags: 'adaptive', 'disabled', 'enabled'`,
      'thinking',
    )
  }
  const settings = isObject(thinking) ? thinking : {}
  const isShown = settings.display !== 'omitted'
  if (type === 'enabled') {
    if (isNewer) {
      throw badField(
        '"thinking.type.enabled" is not supported for this model. Use ' +
          '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
        'thinking',
      )
    }
    checkBudget(settings.budget_tokens, body)
    return { type: 'budget', isShown, tokens: 64 }
  }
  const effort = isObject(body.output_config) ? body.output_config.effort : undefined
  return { type: 'adaptive', isShown, tokens: reasoningTokensFor(effort ?? 'high') }
}

function checkBudget(budget: unknown, body: JsonObject): void {
  const at = 'thinking.enabled.budget_tokens'
  if (typeof budget !== 'number') throw badField(`${at}: Field required`, at)
  if (budget < SMALLEST_BUDGET)
    throw badField(`${at}: Input should be greater than or equal to ${SMALLEST_BUDGET}`, at)
  if (typeof body.max_tokens === 'number' && body.max_tokens <= budget)
    throw badField('`max_tokens` must be greater than `thinking.budget_tokens`.', at)
  if (body.temperature !== undefined && body.temperature !== 1)
    throw badField('`temperature` may only be set to 1 when thinking is enabled.', 'temperature')
  if (body.top_k !== undefined)
    throw badField('`top_k` must be unset when thinking is enabled.', 'top_k')
  if (typeof body.top_p === 'number' && body.top_p < 0.95)
    throw badField(
      '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.',
      'top_p',
    )
  const choice = isObject(body.tool_choice) ? body.tool_choice.type : undefined
  if (choice === 'any' || choice === 'tool')
    throw badField('Thinking may not be enabled when tool_choice forces tool use.', 'tool_choice')
}

function refuseSampling(body: JsonObject): void {
  for (const name of ['temperature', 'top_p', 'top_k']) {
    if (body[name] === undefined) continue
    throw badField(`\`${name}\` is deprecated for this model.`, name)
  }
}

interface ThinkingTurn {
  readonly role: string
  /** In Anthropic's shape. */
  readonly blocks: readonly JsonObject[]
}

/** A signature is good for every account, and where else the model is served. */
const SIGNER = 'sandbox thinking'

/**
 * Claude's rules for thinking blocks that come back, which are the same wherever the model is served: untouched, and in a
 * tool loop there at all. Knows no dialect; see https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking.
 */
export function signThinking(id: string, text: string): string {
  return sealReasoning({ id, text, isPartial: false }, SIGNER)
}

/**
 * @param needsThinking thinking is on with a budget: the turn that is being continued must begin
 * with it. Models that decide themselves may have called a tool without it.
 * @throws Refusal 400 in Anthropic's words
 */
export function checkThinking(turns: readonly ThinkingTurn[], needsThinking: boolean): void {
  for (const [at, turn] of turns.entries()) {
    for (const [index, block] of turn.blocks.entries())
      checkBlock(block, `messages.${at}.content.${index}`)
  }
  if (!needsThinking) return
  const lastUser = turns.findLastIndex(
    ({ role, blocks }) => role === 'user' && !blocks.some(({ type }) => type === 'tool_result'),
  )
  for (const [at, { role, blocks }] of turns.entries()) {
    if (at <= lastUser || role !== 'assistant' || !blocks.some(({ type }) => type === 'tool_use'))
      continue
    const found = stringOf(blocks[0]?.type)
    if (found === 'thinking' || found === 'redacted_thinking') continue
    throw badField(
      `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but ` +
        `found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must ` +
        `start with a thinking block (preceeding the lastmost set of \`tool_use\` and ` +
        `\`tool_result\` blocks). We recommend you include thinking blocks from previous turns. ` +
        `To avoid this requirement, disable \`thinking\`. Please consult our documentation at ` +
        'https://docs.claude.com/en/docs/build-with-claude/extended-thinking',
      'messages',
    )
  }
}

function checkBlock(block: JsonObject, at: string): void {
  if (block.type === 'redacted_thinking') {
    if (openReasoning(stringOf(block.data), SIGNER) !== null) return
    throw badField(`${at}: Invalid \`data\` in \`redacted_thinking\` block`, 'messages')
  }
  if (block.type !== 'thinking') return
  const opened = openReasoning(stringOf(block.signature), SIGNER)
  if (opened === null)
    throw badField(`${at}: Invalid \`signature\` in \`thinking\` block`, 'messages')
  if (opened.text === block.thinking) return
  throw badField(
    `${at}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message ` +
      'cannot be modified. These blocks must remain as they were in the original response.',
    'messages',
  )
}
