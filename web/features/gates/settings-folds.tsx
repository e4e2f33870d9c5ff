/** The settings of a gate that most gates leave as they are, folded by subject. */
import { REASONING_EFFORTS } from '../../../src/contract/words.ts'
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import { BudgetFold } from './budget-fold.tsx'
import { FuseFold } from './fuse-fold.tsx'
import type { AdaptMode, GateDraft, Overrides } from './gate-draft.ts'
import type { GateForm } from './use-gate-form.ts'

const OVERRIDES: Readonly<Record<Overrides, string>> = {
  ignore: 'Ignore: the gate’s value applies, and the answer names the ignored members',
  reject: 'Reject: refuse the request with status 400',
  allow: 'Allow: the request’s value applies',
}

const ADAPT: Readonly<Record<AdaptMode, string>> = {
  retry: 'Retry: send the request once more without it',
  on: 'Leave it out at once where the model is known to refuse it',
  off: 'Off: the caller gets the refusal',
}

const STORE = { pass: 'Pass it on', off: 'Send store: false, and name it' } as const

export function SettingsFolds({ form }: { readonly form: GateForm }) {
  return (
    <>
      <NamesFold form={form} />
      <FactsFold form={form} />
      <BudgetFold form={form} />
      <FuseFold form={form} />
      <DefaultsFold form={form} />
      <AdvancedFold form={form} />
    </>
  )
}

const CATCH_ALL = {
  no: 'Refused with status 404, unless another gate is the catch-all',
  yes: 'Answered by this gate',
}

function NamesFold({ form }: { readonly form: GateForm }) {
  const { draft, set, problem } = form
  const isWrong = problem('aliases') !== undefined || problem('isCatchAll') !== undefined
  return (
    <Fold title="Other names" summary={summariseNames(draft)} isWrong={isWrong}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Aliases"
          isOptional
          isCode
          autoComplete="off"
          spellCheck={false}
          placeholder="openai/gpt-4.1, qwen3:8b"
          value={draft.aliases}
          onChange={(event) => set('aliases', event.target.value)}
          hint="Names that calls may use as well, separated by commas."
          problem={problem('aliases')}
        />
        <TextField
          label="Unlisted aliases"
          isOptional
          isCode
          autoComplete="off"
          spellCheck={false}
          value={draft.unlistedAliases}
          onChange={(event) => set('unlistedAliases', event.target.value)}
          hint="The same, absent from the list of models that clients read."
        />
      </div>
      <SelectField
        label="Calls with an unknown name"
        value={draft.isCatchAll ? 'yes' : 'no'}
        onChange={(event) => set('isCatchAll', event.target.value === 'yes')}
        problem={problem('isCatchAll')}
        options={CATCH_ALL}
      />
    </Fold>
  )
}

function summariseNames({ aliases, unlistedAliases, isCatchAll }: GateDraft): string {
  const names = [aliases, unlistedAliases, isCatchAll ? 'unknown names' : '']
  return names.filter((text) => text.trim() !== '').join(' · ') || 'Aliases, unknown names'
}

const USAGE_HEADERS = { no: 'No', yes: 'Yes: cost and tokens, on answers that are not streams' }

const FACT_FIELDS = [
  ['contextTokens', 'contextTokens', 'Context', 'In tokens'],
  ['outputTokens', 'maxOutputTokens', 'Longest output', 'In tokens'],
  ['inputModalities', 'inputModalities', 'Input', 'text, image, audio, video, file'],
  ['outputModalities', 'outputModalities', 'Output', 'text, image, audio'],
  ['reasoningEfforts', 'reasoningEfforts', 'Efforts', 'low, medium, high'],
] as const

/** The gate's facts in the list of models and in answers. */
function FactsFold({ form }: { readonly form: GateForm }) {
  const { draft, set, problem } = form
  const isWrong = problem('facts') !== undefined || problem('codexInstructions') !== undefined
  const summary = FACT_FIELDS.map(([name]) => draft[name]).filter((text) => text.trim() !== '')
  return (
    <Fold
      title="Capabilities for clients"
      summary={summary.join(' · ') || 'Context, modalities, efforts: those of the targets'}
      isWrong={isWrong}
    >
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {FACT_FIELDS.map(([name, member, label, hint]) => (
          <TextField
            key={name}
            label={label}
            isOptional
            autoComplete="off"
            hint={hint}
            value={draft[name]}
            onChange={(event) => set(name, event.target.value)}
            problem={problem(`facts.${member}`)}
          />
        ))}
        <SelectField
          label="Usage in headers"
          value={draft.usageHeaders ? 'yes' : 'no'}
          onChange={(event) => set('usageHeaders', event.target.value === 'yes')}
          options={USAGE_HEADERS}
        />
      </div>
      <TextAreaField
        label="Prompt for Codex"
        isOptional
        hint="Puts the gate into Codex's list of models. The text replaces Codex's own prompt."
        value={draft.codexInstructions}
        onChange={(event) => set('codexInstructions', event.target.value)}
        problem={problem('codexInstructions')}
      />
    </Fold>
  )
}

function DefaultsFold({ form }: { readonly form: GateForm }) {
  const { draft, set } = form
  const field = numberField(form)
  return (
    <Fold
      title="Defaults"
      summary={summariseDefaults(draft)}
      isWrong={form.problem('defaults') !== undefined}
    >
      <TextAreaField
        label="Instructions"
        isOptional
        hint="Put before the caller's own instructions, whatever is chosen below."
        value={draft.instructions}
        onChange={(event) => set('instructions', event.target.value)}
        problem={form.problem('defaults.instructions')}
      />
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <TextField
          {...field('temperature', 'defaults.temperature')}
          label="Temperature"
          hint="0 to 2"
        />
        <TextField {...field('topP', 'defaults.topP')} label="Top p" hint="0 to 1" />
        <TextField
          {...field('maxOutputTokens', 'defaults.maxOutputTokens')}
          label="Output limit"
          hint="In tokens"
        />
        <SelectField
          label="Reasoning effort"
          isOptional
          value={draft.reasoningEffort}
          onChange={(event) =>
            set(
              'reasoningEffort',
              REASONING_EFFORTS.find((effort) => effort === event.target.value) ?? '',
            )
          }
          problem={form.problem('defaults.reasoningEffort')}
          hint="Where a model can think"
        >
          <option value="">As in the request</option>
          {REASONING_EFFORTS.map((effort) => (
            <option key={effort}>{effort}</option>
          ))}
        </SelectField>
      </div>
      <SelectField
        label="When a request contradicts the gate"
        value={draft.overrides}
        onChange={(event) => set('overrides', toOverrides(event.target.value))}
        problem={form.problem('overrides')}
        options={OVERRIDES}
      />
    </Fold>
  )
}

function AdvancedFold({ form }: { readonly form: GateForm }) {
  const field = numberField(form)
  const isWrong = ['hedgeAfterMs', 'timeoutMs', 'maxRetries', 'adapt'].some(
    (name) => form.problem(name) !== undefined,
  )
  return (
    <Fold title="Advanced" summary={summariseAdvanced(form.draft)} isWrong={isWrong}>
      <div className="grid gap-4 sm:grid-cols-3">
        <TextField
          {...field('hedgeAfterMs', 'hedgeAfterMs')}
          label="Hedge after (ms)"
          hint="When the first byte is this late, the next target is asked as well, and the first to answer is taken."
        />
        <TextField
          {...field('timeoutMs', 'timeoutMs')}
          label="Time limit (ms)"
          hint="For the whole call, all targets together. Empty: the gateway's own."
        />
        <TextField
          {...field('maxRetries', 'maxRetries')}
          label="Retries"
          hint="How often a target is retried before the next target is tried. 0 to 5."
        />
      </div>
      <SelectField
        label="When a model refuses an optional setting"
        value={form.draft.adapt}
        onChange={(event) => form.set('adapt', toAdapt(event.target.value))}
        problem={form.problem('adapt')}
        hint="Such as temperature at a reasoning model. Answers name what was left out."
        options={ADAPT}
      />
      <SelectField
        label="When a chat call has store: true"
        value={form.draft.ignoreStore ? 'off' : 'pass'}
        onChange={(event) => form.set('ignoreStore', event.target.value === 'off')}
        hint="Some SDKs ask the provider by default to keep chats."
        options={STORE}
      />
    </Fold>
  )
}

type NumberName =
  | 'temperature'
  | 'topP'
  | 'maxOutputTokens'
  | 'hedgeAfterMs'
  | 'timeoutMs'
  | 'maxRetries'

function numberField({ draft, set, problem }: GateForm) {
  return (name: NumberName, apiField: string) => ({
    inputMode: 'decimal' as const,
    autoComplete: 'off',
    isOptional: true,
    value: draft[name],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      set(name, event.target.value),
    problem: problem(apiField),
  })
}

function toAdapt(text: string): AdaptMode {
  return text === 'off' || text === 'on' ? text : 'retry'
}

function toOverrides(text: string): Overrides {
  return text === 'reject' || text === 'allow' ? text : 'ignore'
}

function summariseDefaults(draft: GateDraft): string {
  const set = [
    draft.instructions.trim() === '' ? '' : 'instructions',
    draft.temperature === '' ? '' : `temperature ${draft.temperature}`,
    draft.topP === '' ? '' : `top p ${draft.topP}`,
    draft.maxOutputTokens === '' ? '' : `at most ${draft.maxOutputTokens} tokens`,
    draft.reasoningEffort === '' ? '' : `effort ${draft.reasoningEffort}`,
    draft.overrides === 'ignore' ? '' : `overrides: ${draft.overrides}`,
  ].filter((text) => text !== '')
  return set.length === 0 ? 'Instructions, sampling, limits for every request' : set.join(' · ')
}

function summariseAdvanced(draft: GateDraft): string {
  const set = [
    draft.hedgeAfterMs === '' ? '' : `hedge after ${draft.hedgeAfterMs} ms`,
    draft.timeoutMs === '' ? '' : `at most ${draft.timeoutMs} ms`,
    draft.maxRetries === '' || draft.maxRetries === '0' ? '' : `retries ${draft.maxRetries}`,
    draft.adapt === 'retry' ? '' : `adapt: ${draft.adapt}`,
    draft.ignoreStore ? 'store off' : '',
  ].filter((text) => text !== '')
  return set.length === 0 ? 'Hedging, time limit, retries' : set.join(' · ')
}
