import { SelectField } from '../../ui/field.tsx'
import { bindTo } from '../../ui/use-fields.ts'
import type { FimEndpoint, FimSettings, FimTemplate } from './draft.ts'

const ENDPOINTS: Readonly<Record<FimEndpoint, string>> = {
  auto: 'Find out',
  'fim-completions': 'Mistral’s own: /fim/completions',
  infill: 'llama.cpp: /infill',
  'completions-suffix': 'Ollama: /completions with a suffix',
  'completions-template': 'vLLM: /completions with the model’s tokens',
}

const TEMPLATES: Readonly<Record<FimTemplate, string>> = {
  auto: 'By the model’s name',
  codegemma: 'CodeGemma',
  codellama: 'Code Llama',
  codestral: 'Codestral',
  'deepseek-coder': 'DeepSeek-Coder',
  'granite-code': 'Granite code',
  'qwen-coder': 'Qwen2.5-Coder, Qwen3-Coder',
  starcoder2: 'StarCoder2',
}

export function FimFields({
  chosen,
  onChange,
}: {
  readonly chosen: FimSettings
  readonly onChange: (changed: Partial<FimSettings>) => void
}) {
  const bind = bindTo(chosen, onChange)
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Filling in the middle"
        {...bind('fimEndpoint')}
        hint="Each server has another form for it. The test call finds out."
        options={ENDPOINTS}
      />
      <SelectField
        label="Tokens of the model"
        {...bind('fimTemplate')}
        hint="Written where the server leaves that to its clients, as vLLM does."
        options={TEMPLATES}
      />
    </div>
  )
}
