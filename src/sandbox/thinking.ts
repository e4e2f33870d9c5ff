/**
 * Sealed reasoning, and Claude's rules for thinking: how a request asks for thinking, and which
 * thinking blocks a client may send back.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'
import { badField } from './dialect.ts'
import { isObject, type JsonObject, objectOf, stringOf } from './json.ts'
import { reasoningTokensFor } from './openai/openai-vendor.ts'

interface SealedReasoning {
  readonly id: string
  readonly text: string
  /** The shorter ciphertext of `output_item.added`, which cannot be replayed. */
  readonly isPartial: boolean
}

/** Visible as `c2FuZGJveC` at the start of each ciphertext, unlike any real ciphertext. */
const MAGIC = Buffer.from('sandbox1')
const NONCE_BYTES = 12
const TAG_BYTES = 16

function keyFor(apiKey: string): Buffer {
  return createHash('sha256').update(`gatehouse sandbox reasoning\0${apiKey}`).digest()
}

/** The nonce is derived from the content, so equal requests get equal answers. */
export function sealReasoning(reasoning: SealedReasoning, apiKey: string): string {
  const key = keyFor(apiKey)
  const plain = Buffer.from(JSON.stringify(reasoning))
  const nonce = createHmac('sha256', key).update(plain).digest().subarray(0, NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(MAGIC)
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([MAGIC, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Null for a text that was altered, belongs to another key, or is not the sandbox's. */
export function openReasoning(encrypted: string, apiKey: string): SealedReasoning | null {
  const bytes = Buffer.from(encrypted, 'base64url')
  // A lenient decoder ignores stray characters, so an altered text would pass.
  if (bytes.toString('base64url') !== encrypted) return null
  const body = MAGIC.length + NONCE_BYTES
  if (bytes.length < body + TAG_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      keyFor(apiKey),
      bytes.subarray(MAGIC.length, body),
    )
    decipher.setAAD(MAGIC)
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const plain = Buffer.concat([
      decipher.update(bytes.subarray(body, -TAG_BYTES)),
      decipher.final(),
    ])
    const value: unknown = JSON.parse(plain.toString())
    if (!isObject(value) || typeof value.id !== 'string' || typeof value.text !== 'string')
      return null
    return { id: value.id, text: value.text, isPartial: value.isPartial === true }
  } catch {
    return null
  }
}

export interface ThinkingSettings {
  readonly type: 'off' | 'budget' | 'adaptive'
  /** False: the answer contains only the signature, not the text. */
  readonly isShown: boolean
  readonly tokens: number
}

const SMALLEST_BUDGET = 1024
const OFF: ThinkingSettings = { type: 'off', isShown: false, tokens: 0 }

/**
 * @param isNewer an adaptive model: accepts neither a budget nor sampling settings
 * @throws Refusal 400 in Anthropic's words
 */
export function readThinking(body: JsonObject, isNewer: boolean): ThinkingSettings {
  if (isNewer) refuseSampling(body)
  const { thinking } = body
  if (thinking === undefined || thinking === null) return OFF
  const settings = objectOf(thinking)
  const { type } = settings
  if (type === 'disabled') return OFF
  if (type !== 'enabled' && type !== 'adaptive') {
    throw badField(
      `thinking: Input tag '${String(type)}' found using 'type' does not match any of the ` +
        `expected tags: 'adaptive', 'disabled', 'enabled'`,
      'thinking',
    )
  }
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
  const { effort } = objectOf(body.output_config)
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
  const { type } = objectOf(body.tool_choice)
  if (type === 'any' || type === 'tool')
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
  readonly blocks: readonly JsonObject[]
}

/** A signature is valid in every account and on every platform that serves the model. */
const SIGNER = 'sandbox thinking'

/**
 * Claude's rules for returned thinking blocks: unchanged, and present in a tool loop. Source:
 * https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking.
 */
export function signThinking(id: string, text: string): string {
  return sealReasoning({ id, text, isPartial: false }, SIGNER)
}

/**
 * @param needsThinking thinking with a budget: the current turn must begin with thinking. Adaptive
 * models may have called a tool without thinking.
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
