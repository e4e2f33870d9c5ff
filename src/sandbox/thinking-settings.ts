/** How a Claude model is asked to think, and what it refuses beside it. Knows no message. */
import { isObject, type JsonObject } from './json.ts'
import { reasoningTokensFor } from './openai/openai-fields.ts'
import { badField } from './refusal.ts'

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
