/**
 * Fits a decoded request to what its model accepts, between the caller's codec and the upstream's
 * (decision 0120). Knows neither dialects nor models.
 */
import type { AnswerPart, ChatAnswer, ChatEvent } from '../chat-answer.ts'
import type { ChatRequest } from '../chat-request.ts'
import type { Feature, StreamDecoder } from '../codec.ts'
import { fitMessages } from './messages.ts'
import type { RequestRules } from './request-rules.ts'
import { fitSchemas } from './schemas.ts'
import { fitSettings } from './settings.ts'
import { fitToolNames } from './tool-names.ts'

export interface FittedRequest {
  readonly request: ChatRequest
  readonly ignored: readonly Feature[]
  readonly adapted: readonly Feature[]
  /** Undoes the changes in answers. Undefined: the answer needs no change. */
  readonly restore: AnswerRestorer | undefined
}

/** Restores the caller's own spelling. */
export interface AnswerRestorer {
  part(part: AnswerPart): AnswerPart
  event(event: ChatEvent): ChatEvent
}

/** @throws GatewayError `invalid_request` when fitting would change the meaning of the request */
export function fit(request: ChatRequest, rules: RequestRules): FittedRequest {
  const ignored = new Set<Feature>()
  const adapted = new Set<Feature>()
  const { toolNames } = rules
  const changes = { ignored, adapted }
  let fitted = fitSettings(request, rules, changes)
  fitted = fitSchemas(fitted, rules, changes)
  fitted = fitMessages(fitted, rules, changes)
  const names = toolNames === undefined ? undefined : fitToolNames(fitted, toolNames)
  if (names !== undefined) {
    fitted = names.request
    adapted.add('tool.name')
  }
  return {
    request: fitted,
    ignored: [...ignored],
    adapted: [...adapted],
    restore: names === undefined ? undefined : restoringNames(names.originals),
  }
}

function restoringNames(originals: ReadonlyMap<string, string>): AnswerRestorer {
  const toOriginal = (name: string) => originals.get(name) ?? name
  const restoreEvent = (event: ChatEvent): ChatEvent => {
    if (event.type === 'tool-call-start') return { ...event, name: toOriginal(event.name) }
    if (event.type === 'choice') return { ...event, event: restoreEvent(event.event) }
    return event
  }
  return {
    part: (part) => (part.type === 'tool-call' ? { ...part, name: toOriginal(part.name) } : part),
    event: restoreEvent,
  }
}

export function restoreAnswer(answer: ChatAnswer, { part }: AnswerRestorer): ChatAnswer {
  const { others, content } = answer
  const restored = { ...answer, content: content.map(part) }
  if (others === undefined) return restored
  return {
    ...restored,
    others: others.map((choice) => ({ ...choice, content: choice.content.map(part) })),
  }
}

export function restoreEvents(decoder: StreamDecoder, { event }: AnswerRestorer): StreamDecoder {
  return {
    push: (bytes) => decoder.push(bytes).map(event),
    end: () => decoder.end().map(event),
    isComplete: () => decoder.isComplete(),
    get usageSoFar() {
      return decoder.usageSoFar ?? null
    },
  }
}
