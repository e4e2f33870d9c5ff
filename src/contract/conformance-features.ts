/** What may happen to a feature between an endpoint and a target. */
export const VERDICTS = ['relayed', 'lossless', 'lossy', 'refused', 'absent'] as const
export type Verdict = (typeof VERDICTS)[number]

interface FeatureShape {
  readonly group: 'Messages' | 'Tools' | 'Form and thought' | 'Settings' | 'Answers'
  readonly label: string
}

export const FEATURES = {
  text: { group: 'Messages', label: 'text' },
  system: { group: 'Messages', label: 'system prompt' },
  turns: { group: 'Messages', label: 'several turns' },
  imageData: { group: 'Messages', label: 'inline image' },
  imageJpg: { group: 'Messages', label: 'inline image as image/jpg' },
  imageUrl: { group: 'Messages', label: 'image by URL' },
  pdfData: { group: 'Messages', label: 'inline PDF' },
  pdfUrl: { group: 'Messages', label: 'PDF by URL' },
  textFile: { group: 'Messages', label: 'inline CSV file' },
  audio: { group: 'Messages', label: 'audio' },
  blankText: { group: 'Messages', label: 'text of white space alone' },
  lateSystem: { group: 'Messages', label: 'instructions in mid-conversation' },
  prefill: { group: 'Messages', label: 'answer to be continued' },
  cacheHint: { group: 'Messages', label: 'prompt cache border' },

  tools: { group: 'Tools', label: 'tools' },
  toolStrict: { group: 'Tools', label: 'strict arguments' },
  toolOptional: { group: 'Tools', label: 'strict arguments with optional members' },
  toolName: { group: 'Tools', label: 'tool name of 100 characters with dots' },
  toolBare: { group: 'Tools', label: 'schema without properties' },
  toolChoices: { group: 'Tools', label: 'schema with anyOf at its root' },
  toolEmpty: { group: 'Tools', label: 'tool without arguments' },
  parallelCalls: { group: 'Tools', label: 'parallel calls with their results' },
  resultImage: { group: 'Tools', label: 'image in a result' },
  resultError: { group: 'Tools', label: 'result marked as an error' },
  choiceAuto: { group: 'Tools', label: 'tool choice “auto”' },
  choiceNone: { group: 'Tools', label: 'tool choice “none”' },
  choiceRequired: { group: 'Tools', label: 'any tool demanded' },
  choiceNamed: { group: 'Tools', label: 'one tool demanded' },
  oneCall: { group: 'Tools', label: 'one call at a time' },

  jsonSchema: { group: 'Form and thought', label: 'JSON by a schema' },
  jsonBounds: { group: 'Form and thought', label: 'JSON by a schema with bounds' },
  jsonBesideTools: { group: 'Form and thought', label: 'JSON by a schema beside tools' },
  jsonMode: { group: 'Form and thought', label: 'JSON without a schema' },
  effort: { group: 'Form and thought', label: 'reasoning effort' },
  effortXhigh: { group: 'Form and thought', label: 'effort xhigh' },
  effortMinimal: { group: 'Form and thought', label: 'effort minimal' },
  effortNone: { group: 'Form and thought', label: 'effort none' },
  budget: { group: 'Form and thought', label: 'reasoning budget' },
  budgetHigh: { group: 'Form and thought', label: 'reasoning budget of 52,428 tokens' },
  loop: { group: 'Form and thought', label: 'reasoning kept through a tool loop' },

  maxTokens: { group: 'Settings', label: 'output limit' },
  maxTokensHigh: { group: 'Settings', label: 'output limit of 1,000,000 tokens' },
  temperature: { group: 'Settings', label: 'temperature' },
  hot: { group: 'Settings', label: 'temperature above 1' },
  topP: { group: 'Settings', label: 'top p' },
  topK: { group: 'Settings', label: 'top k' },
  stop: { group: 'Settings', label: 'stop sequences' },
  stopSix: { group: 'Settings', label: 'six stop sequences' },
  seed: { group: 'Settings', label: 'seed' },
  penalties: { group: 'Settings', label: 'penalties' },
  logprobs: { group: 'Settings', label: 'log probabilities' },
  user: { group: 'Settings', label: 'end user' },
  userLong: { group: 'Settings', label: 'end user of 150 characters' },
  metadata: { group: 'Settings', label: 'metadata' },
  tier: { group: 'Settings', label: 'service tier' },
  cacheKey: { group: 'Settings', label: 'prompt cache key' },
  unknown: { group: 'Settings', label: 'unknown field' },

  answerText: { group: 'Answers', label: 'text' },
  answerReasoning: { group: 'Answers', label: 'reasoning' },
  answerCalls: { group: 'Answers', label: 'tool calls with and without arguments' },
  finish: { group: 'Answers', label: 'reasons for the end' },
  usage: { group: 'Answers', label: 'usage with cached and reasoning tokens' },
  errors: { group: 'Answers', label: 'failure and cut in mid-stream' },
} as const satisfies Record<string, FeatureShape>

export type FeatureId = keyof typeof FEATURES

export const FEATURE_IDS = Object.keys(FEATURES) as FeatureId[]
