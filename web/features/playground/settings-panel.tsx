/** The settings that every message carries: system prompt, parameters, tools. */
import { REASONING_EFFORTS } from '../../../src/contract/words.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx'
import { EXAMPLE_TOOLS } from './parse-tools.ts'
import type { SettingProblems, Settings } from './settings.ts'

export function SettingsPanel({
  settings,
  problems = {},
  onChange,
}: {
  readonly settings: Settings
  readonly problems?: SettingProblems | undefined
  readonly onChange: (changed: Partial<Settings>) => void
}) {
  return (
    <div className="flex flex-col gap-5 p-4">
      <TextAreaField
        label="System prompt"
        isOptional
        rows={4}
        placeholder="You answer in one sentence."
        value={settings.system}
        onChange={(event) => onChange({ system: event.target.value })}
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Temperature"
          inputMode="decimal"
          placeholder="default"
          value={settings.temperature}
          problem={problems.temperature}
          onChange={(event) => onChange({ temperature: event.target.value })}
        />
        <TextField
          label="Output limit"
          inputMode="numeric"
          placeholder="default"
          value={settings.maxOutputTokens}
          problem={problems.maxOutputTokens}
          onChange={(event) => onChange({ maxOutputTokens: event.target.value })}
        />
      </div>
      <SelectField
        label="Reasoning effort"
        value={settings.effort}
        hint="The gate decides about a default, or else the model."
        onChange={(event) => onChange({ effort: event.target.value })}
      >
        <option value="">default</option>
        {REASONING_EFFORTS.map((effort) => (
          <option key={effort}>{effort}</option>
        ))}
      </SelectField>
      <div className="flex flex-col gap-2">
        <TextAreaField
          label="Tools"
          isOptional
          isCode
          rows={8}
          spellCheck={false}
          placeholder='[{"name": "get_weather", "parameters": {…}}]'
          hint="JSON, in this gateway’s form or OpenAI’s. You answer the calls yourself."
          value={settings.tools}
          problem={problems.tools}
          onChange={(event) => onChange({ tools: event.target.value })}
        />
        {settings.tools === '' && (
          <Button
            size="small"
            className="self-start"
            onClick={() => onChange({ tools: EXAMPLE_TOOLS })}
          >
            Insert an example
          </Button>
        )}
      </div>
    </div>
  )
}
