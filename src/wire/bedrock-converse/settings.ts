/**
 * The settings of a Converse request. Source:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import { number, own, type Settings } from '../settings.ts'

export const BEDROCK_SETTINGS = {
  maxOutputTokens: own('inferenceConfig.maxTokens'),
  stop: own('inferenceConfig.stopSequences'),
  temperature: number('inferenceConfig.temperature', { most: 1 }),
  topP: number('inferenceConfig.topP'),
  tools: own('toolConfig.tools'),
  toolChoice: own('toolConfig.toolChoice'),
  parallelToolCalls: own(),
  responseFormat: own('outputConfig.textFormat'),
  reasoning: own('additionalModelRequestFields'),
} satisfies Settings
