/**
 * How well-known models for code want to be asked to fill in the middle, each as its makers write
 * it. Data for servers that leave this to their clients. The end of any text ends it at its server:
 * it is in here only where no code could hold it.
 */
import type { FimTemplateName } from '../core/owned-model.ts'
import type { FimTemplate } from '../wire/fill-in-the-middle/fim-template.ts'

const STARCODER: Omit<FimTemplate, 'stop'> = {
  order: 'prefix-first',
  prefix: '<fim_prefix>',
  suffix: '<fim_suffix>',
  middle: '<fim_middle>',
}

/** The same tokens with bars, as several makers have them since. */
const BARRED: Omit<FimTemplate, 'stop'> = {
  order: 'prefix-first',
  prefix: '<|fim_prefix|>',
  suffix: '<|fim_suffix|>',
  middle: '<|fim_middle|>',
}

export const FIM_TEMPLATES: Readonly<Record<FimTemplateName, FimTemplate>> = {
  // https://huggingface.co/google/codegemma-7b
  codegemma: { ...BARRED, stop: ['<|file_separator|>'] },
  // https://huggingface.co/codellama/CodeLlama-7b-hf: the space belongs to the tokens.
  codellama: {
    order: 'prefix-first',
    prefix: '<PRE> ',
    suffix: ' <SUF>',
    middle: ' <MID>',
    stop: ['<EOT>'],
  },
  // https://docs.mistral.ai/capabilities/code_generation/: the suffix comes first, and nothing
  // follows the prefix.
  codestral: {
    order: 'suffix-first',
    prefix: '[PREFIX]',
    suffix: '[SUFFIX]',
    middle: '',
    stop: [],
  },
  // https://github.com/deepseek-ai/DeepSeek-Coder#2code-insertion: wide bars and low lines of their
  // own.
  'deepseek-coder': {
    order: 'prefix-first',
    prefix: '<\uff5cfim\u2581begin\uff5c>',
    suffix: '<\uff5cfim\u2581hole\uff5c>',
    middle: '<\uff5cfim\u2581end\uff5c>',
    stop: ['<|EOT|>', '<\uff5cend\u2581of\u2581sentence\uff5c>'],
  },
  // https://huggingface.co/ibm-granite/granite-8b-code-base-4k
  'granite-code': { ...STARCODER, stop: ['<fim_pad>', '<|endoftext|>'] },
  // https://github.com/QwenLM/Qwen3-Coder#fill-in-the-middle-with-qwen3-coder, and the same for Qwen2.5-Coder.
  'qwen-coder': {
    ...BARRED,
    stop: ['<|fim_pad|>', '<|repo_name|>', '<|file_sep|>', '<|endoftext|>', '<|im_end|>'],
  },
  // https://huggingface.co/bigcode/starcoder2-15b
  starcoder2: { ...STARCODER, stop: ['<file_sep>', '<repo_name>', '<|endoftext|>'] },
}

/** By parts of the names under which servers know them. */
const NAMES: readonly (readonly [pattern: RegExp, name: FimTemplateName])[] = [
  [/codestral/i, 'codestral'],
  [/qwen[\d.]{0,4}-?coder/i, 'qwen-coder'],
  [/starcoder/i, 'starcoder2'],
  [/deepseek-?coder/i, 'deepseek-coder'],
  [/code-?llama/i, 'codellama'],
  [/code-?gemma/i, 'codegemma'],
  [/granite-(?:\d{1,2}b-)?code/i, 'granite-code'],
]

/** @returns undefined for a model that is not known by its name */
export function fimTemplateOf(model: string): FimTemplateName | undefined {
  return NAMES.find(([pattern]) => pattern.test(model))?.[1]
}
