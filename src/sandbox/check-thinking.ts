/**
 * Claude's rules for thinking blocks that come back, which are the same wherever the model is served: untouched, and in a
 * tool loop there at all. Knows no dialect; see https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking.
 */
import { type JsonObject, stringOf } from './json.ts'
import { badField } from './refusal.ts'
import { openReasoning, sealReasoning } from './seal-reasoning.ts'

export interface ThinkingTurn {
  readonly role: string
  /** In Anthropic's shape. */
  readonly blocks: readonly JsonObject[]
}

/** A signature is good for every account, and where else the model is served. */
const SIGNER = 'sandbox thinking'

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
