/** What Google's models refuse in requests of a valid form, with Google's messages. */
import { badField } from '../dialect.ts'
import { type JsonObject, objectOf } from '../json.ts'
import type { SandboxModel } from '../parse-model.ts'

export function checkLimits(settings: JsonObject, hasTools: boolean, model: SandboxModel): void {
  const { refusesPenalties, refusesJsonWithTools } = model.limits ?? {}
  const { presencePenalty, frequencyPenalty, responseMimeType } = settings
  // https://github.com/vercel/ai/issues/8943 (2026-11)
  const hasPenalty = (presencePenalty ?? frequencyPenalty) !== undefined
  if (hasPenalty && (refusesPenalties === true || model.base === 'echo-reasoning'))
    throw badField('Penalty is not enabled for this model', 'generationConfig')
  // https://ai.google.dev/gemini-api/docs/structured-output (2026-11)
  if (refusesJsonWithTools === true && hasTools && responseMimeType === 'application/json')
    throw badField(
      "Function calling with a response mime type: 'application/json' is unsupported",
      'generationConfig',
    )
  checkBudget(objectOf(settings.thinkingConfig ?? settings.thinking_config), model)
}

/**
 * https://github.com/ChatLunaLab/chatluna/issues/519 and
 * https://github.com/RooCodeInc/Roo-Code/issues/4399 (2026-11). A budget of -1 leaves the choice to
 * the model.
 */
function checkBudget(config: JsonObject, { limits }: SandboxModel): void {
  const budget = config.thinkingBudget ?? config.thinking_budget
  const range = limits?.thinking
  if (range === undefined || typeof budget !== 'number' || budget === -1) return
  if (budget === 0) {
    if (range.zero === true) return
    throw badField('Budget 0 is invalid. This model only works in thinking mode.', 'thinkingConfig')
  }
  if (budget < range.least || budget > range.most)
    throw badField(`The thinking budget (${budget}) is invalid.`, 'thinkingConfig')
}
