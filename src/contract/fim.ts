/** How owned models fill in the middle, as the control plane reads and writes it. */
import { z } from 'zod'

const ENDPOINTS = [
  'fim-completions',
  'infill',
  'completions-suffix',
  'completions-template',
] as const

const FORMS =
  '`fim-completions`: Mistral’s own. `infill`: llama.cpp’s `/infill`, beside ' +
  'the `/v1` of the address. `completions-suffix`: `/completions` with a ' +
  'suffix, as Ollama has it. `completions-template`: `/completions` with the ' +
  'model’s own tokens in the prompt, as vLLM needs it.'

export const fimEndpoint = z.enum(['auto', ...ENDPOINTS]).meta({
  description:
    `How the server of a model of the dialect \`mistral-fim\` fills in the middle. \`auto\`: as ` +
    `the probe finds out. ${FORMS}`,
})

export const foundFimEndpoint = z
  .enum(ENDPOINTS)
  .optional()
  .meta({ description: 'How it fills in the middle, where `fimEndpoint` is `auto`.' })

export const fimTemplate = z
  .enum([
    'auto',
    'codegemma',
    'codellama',
    'codestral',
    // provider-name-ok: a family of models
    'deepseek-coder',
    'granite-code',
    'qwen-coder',
    'starcoder2',
  ])
  .meta({
    description:
      'Whose tokens `completions-template` writes. `auto`: by `upstreamModelId`, where the ' +
      'name tells the family.',
  })
