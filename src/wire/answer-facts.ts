/** Facts of an upstream's answer, for telemetry: id, model and finish reasons. */
import { isRecord } from './read-json.ts'

export interface AnswerFacts {
  /** The answer's id at the upstream. Undefined: not reported. */
  readonly answerId?: string | undefined
  /** The model that answered, by its name at the upstream. Undefined: not reported. */
  readonly model?: string | undefined
  /** Why the model stopped writing, in the upstream's words. Undefined: not reported. */
  readonly finishReasons?: readonly string[] | undefined
  /** Events of a stream with a part of the answer. Undefined: not a stream. */
  readonly chunks?: number | undefined
}

type Answer = Readonly<Record<string, unknown>>

/** @param answer a complete answer in any dialect, or the last chunk of a stream of chat chunks */
export function factsOf(answer: Answer): AnswerFacts {
  return {
    answerId: textOrNone(answer.id ?? answer.responseId),
    model: textOrNone(answer.model ?? answer.modelVersion),
    finishReasons: finishReasonsOf(answer),
  }
}

/** Per choice: OpenAI, Mistral and Gemini. Per answer: Anthropic, Bedrock and Cohere. */
export function finishReasonsOf(answer: Answer): readonly string[] | undefined {
  const choices = answer.choices ?? answer.candidates
  const reasons = Array.isArray(choices)
    ? choices.map((choice) =>
        isRecord(choice) ? (choice.finish_reason ?? choice.finishReason) : undefined,
      )
    : [answer.stop_reason ?? answer.stopReason ?? answer.finish_reason ?? statusOf(answer)]
  const known = reasons.filter((reason) => typeof reason === 'string')
  return known.length === 0 ? undefined : known
}

/** An OpenAI response has a status and, if incomplete, a reason. */
function statusOf({ incomplete_details: details, status }: Answer): unknown {
  return isRecord(details) ? (details.reason ?? status) : status
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
